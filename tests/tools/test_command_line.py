"""What the programs' command lines have in common (tools/command_line.py)."""

import os
import pathlib
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
from tools.command_line import write_whole


class WriteWhole(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_file_is_replaced(self) -> None:
        file = self.folder / ("a" * 255)
        for text in ("first", "second"):
            write_whole(str(file), text)
            self.assertEqual(file.read_text(), text)
        self.assertEqual(list(self.folder.iterdir()), [file])

    def test_a_device_a_pipe_and_a_link_stay_what_they_are(self) -> None:
        """Root could replace them."""
        device, pipe, link, file = (self.folder / name for name in ("device", "pipe", "link", "file"))
        device.symlink_to("/dev/null")
        write_whole(device, "text")
        self.assertEqual(device.readlink(), pathlib.Path("/dev/null"))
        os.mkfifo(pipe)
        read = []
        reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
        reader.start()
        write_whole(pipe, "text")
        reader.join(10)
        self.assertEqual((read, pipe.is_fifo()), (["text"], True))
        file.write_text("before")
        link.symlink_to(file)
        write_whole(link, "text")
        self.assertEqual((link.is_symlink(), file.read_text()), (True, "text"))

    def test_what_cannot_be_written_leaves_nothing(self) -> None:
        for path in (self.folder, self.folder / "no" / "such", self.folder / ("b" * 300)):
            with self.assertRaises(SystemExit) as end:
                write_whole(path, "text")
            self.assertEqual(end.exception.code, 2)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
