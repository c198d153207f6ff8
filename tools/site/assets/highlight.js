// CUDA C++ line by line, as parts with a class each: keywords, CUDA's own names, numbers, strings, comments.
const highlight = (() => {
  const keywords = new Set(("alignas asm auto bool break case char class const constexpr const_cast continue decltype default "
    + "delete do double else enum explicit extern false float for if inline int long namespace new noexcept nullptr operator "
    + "private public reinterpret_cast return short signed sizeof static static_assert static_cast struct switch template "
    + "this throw true typedef typename union unsigned using virtual void volatile while").split(" "));
  const cuda = new RegExp("^(?:__\\w+|(?:thread|block)Idx|(?:block|grid)Dim|warpSize|atomic[A-Z]\\w*|cuda\\w+|wmma|nvcuda"
    + "|(?:float|double|u?int)[234]|half2?|dim3)$");
  const piece = new RegExp([
    "(?<comment>\\/\\/.*|\\/\\*.*?(?:\\*\\/|$))",
    "(?<string>\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|(?<=#include\\s)<[^>]+>)",
    "(?<number>\\b\\d(?:[eEpP][-+]|[\\w.'])*)",
    "(?<directive>^\\s*#\\s*\\w+)",
    "(?<word>[A-Za-z_]\\w*)",
    "(?<rest>.)",
  ].join("|"), "gu");

  const classOf = (groups) => {
    if (groups.comment !== undefined) return "comment";
    if (groups.string !== undefined) return "string";
    if (groups.number !== undefined) return "number";
    if (groups.directive !== undefined) return "keyword";
    if (groups.word === undefined) return "";
    return keywords.has(groups.word) ? "keyword" : cuda.test(groups.word) ? "cuda" : "";
  };

  // [[text, class], ...] of a line, and whether it ends within a comment; `inside`: it begins within one.
  const parts = (line, inside) => {
    const end = inside ? line.indexOf("*/") : 0;
    if (end < 0) return [line ? [[line, "comment"]] : [], true];
    const at = inside ? end + 2 : 0;
    const found = at ? [[line.slice(0, at), "comment"]] : [];
    let open = false;
    for (const match of line.slice(at).matchAll(piece)) {
      const name = classOf(match.groups), last = found[found.length - 1];
      open = name === "comment" && match[0].startsWith("/*") && !/^\/\*.*\*\/$/.test(match[0]);
      if (last && last[1] === name) last[0] += match[0];
      else found.push([match[0], name]);
    }
    return [found, open];
  };

  // The parts of each line of a file.
  return (lines) => {
    let inside = false;
    return lines.map((line) => {
      const [found, open] = parts(line, inside);
      inside = open;
      return found;
    });
  };
})();
