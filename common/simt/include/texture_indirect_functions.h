// Not here: a program that needs it is told so in one line.
#error "the CPU executor has no textures and surfaces: <texture_indirect_functions.h>"
