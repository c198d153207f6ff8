# What ./lab can do.

commands=(ladder run check diff compare bench test doctor list show probe accuracy experiment map compile candidates batch choice
  pages site slides trace report measure mutate grade course emulate exercise completion setup help)

usage() {
  tell << 'TEXT'
usage: ./lab COMMAND [options]

  ladder [N | MxNxK]...  every stage beside cuBLAS: check, time, compare. Without a GPU: run and check on the CPU
  run ID [options]       one stage on one problem: ./lab run 02 --m 1000 --n 500 --k 200 --json -
  check ID...            all that must hold of a stage, and what is wrong in plain words: ./lab check 04, ./lab check all --quick
  exercise [ID [ANSWER]] the pages' exercises: ./lab exercise 02.1 asks one, ./lab exercise 02.1 7/2 says whether that is right
  diff ID [ID]           what a stage's code changes of the one that it grows from, or of another: ./lab diff 04 --html diff.html
  compare A B [options]  what two stages count or how fast they are, side by side: ./lab compare 03 04
  bench [flags]          stages beside cuBLAS in Google Benchmark: ./lab bench --filter 18 --shapes 4096   (needs a GPU)
  test                   every stage and every kind of check in minutes; with a GPU its tests, too. --full: all tests
  emulate FILE.cu...     any CUDA program without a GPU, its mistakes found: ./lab emulate mine.cu -- its arguments
  doctor                 is this machine ready? each line ok, or what to do about it

`./lab COMMAND --help` shows a command's own options, `./lab help all` the other commands.
Set-up needs apt (root or sudo) once; after that lab works offline.
TEXT
}

usage_of_the_rest() {
  tell << 'TEXT'

more of the commands above:
  ladder --plot FILE     draw it, too (FILE.svg or FILE.png), with the roofline in FILE-roofline.svg   (needs a GPU)
  test --full            all tests that there are; --cuda: the CUDA build's; --sanitize: the executor's under ASan and UBSan
    --arch LIST          with --cuda: for these architectures, as CMake names them: "90a-real;75-real"
    --again              also those that have passed since the last change; --share P/N: every N-th test

other commands:
  list                   the stages
  show ID [--flat]       a stage's file; --flat: one .cu file that needs no other, with a main() that checks and times it
  probe [NAME]           small kernels that measure the hardware, beside what is predicted; without NAME: the list
  accuracy [options]     how near FP32 stages come to FP64's results, over depths and kinds of numbers
  experiment [NAME]      a table or plot of the sources, again, beside their figures; without NAME: the list
  map ID...              which thread of a block writes which element, drawn, found by running; --json FILE: of all stages
  compile ID SIZES       generated kernels ahead of time, for a machine with a GPU too: ./lab compile tsm/09 1-64 --arch sm_90a
  candidates ID SIZES    the kernels that a generating stage could make, as cases for batch: ./lab candidates tsm/09 16 --most 10
  batch FILE --out FILE  many cases of stages, sizes and options from a file, in one process (docs/concepts/batch.md)
  choice [SIZES]         which kernels tsm/14 and 15 take
  pages [--check]        tables, numbers and figures of the documents, anew from docs/measurements/; --check: are they up to date?
  site [--out DIR]       the documents as a site that needs no network, with the stepper and the interactive ladder
  slides STAGES          slides from the pages: ./lab slides 01-05 --out slides.html
  trace ID --html FILE   each access of a stage, step by step, in one HTML file: also of a stage of yours
  report [--out FILE]    a ladder on this machine beside the committed ones, as one HTML file and JSON
  measure WHAT ...       counters, sanitizers, tuning and the like, as JSON; measure --help lists them
  mutate ID...           small mistakes in stages, one at a time, and how many of them check rejects: ./lab mutate 07 --per-stage 10
  grade ID FILE          points for a submission of the course, by its rubric: ./lab grade sgemm/01_coalesce kernel.cuh
  course WHAT            of the course (docs/course.md): list, export --students DIR, selftest
  completion bash|zsh    completes commands and stages: eval "$(./lab completion bash)" in ~/.bashrc
  setup                  install what is missing and build, run nothing

for any command:
  --yes                  install missing packages without a question
  --cpu                  use the CPU executor even if there is a GPU
  --cuda                 use CUDA even if there is no NVIDIA driver (fetches nvcc, NVRTC and cuBLAS from PyPI if there is no nvcc)
  --prebuilt DIR         use the programs in DIR (the bin folder of a build); set up and build nothing
TEXT
}
