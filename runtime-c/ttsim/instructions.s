# Instructions of a Tensix core: a word that the processor hands over, with its upper two bits last.
.macro .ttinsn word
    .4byte ((\word) << 2 | ((\word) >> 30 & 3)) & 0xffffffff
.endm

# The registers of the vector engine that those of floating point stand for.
.equ lreg_ft0, 0
.equ lreg_ft1, 1
.equ lreg_ft2, 2
.equ lreg_ft3, 3
.equ lreg_ft4, 4
.equ lreg_ft5, 5
.equ lreg_ft6, 6
.equ lreg_ft7, 7

# The compiler's own moves are SFPMOV of all lanes. Vectors have no place in memory.
.macro fmv.s to, from
    .ttinsn 0x7c000002 + (lreg_\from << 8) + (lreg_\to << 4)
.endm
.macro fsw register, place
    .error "the vector engine has only 8 registers"
.endm
.macro flw register, place
    .error "the vector engine has only 8 registers"
.endm
.macro fmv.w.x to, from
    .error "a scalar in a register of the vector engine"
.endm
.macro fmv.x.w to, from
    .error "a scalar in a register of the vector engine"
.endm
