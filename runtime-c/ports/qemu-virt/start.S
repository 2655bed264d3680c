/* The entry of all harts: hart 0 controls, the next ones are cores, and any others sleep. */
    .section .start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    la t0, trap
    csrw mtvec, t0
    li t0, 0x6000 /* mstatus.FS: floats may be used */
    csrs mstatus, t0
    fscsr zero
    li t0, 8 /* mie.MSIE: another hart's interrupt ends wfi, while mstatus.MIE stays off */
    csrw mie, t0

    csrr a0, mhartid
    lw t1, partita_harts
    bgeu a0, t1, sleep
    lw t1, partita_stack_bytes
    la sp, partita_stacks
    mul t2, t1, a0
    add sp, sp, t2
    add sp, sp, t1
    bnez a0, core

    la t0, __bss_start
    la t1, __bss_end
clear:
    bgeu t0, t1, cleared
    sw zero, 0(t0)
    addi t0, t0, 4
    j clear
cleared:
    tail partita_begin

    /* No memory is read until hart 0 has cleared it and wakes this one. */
core:
    csrr t0, mip
    andi t0, t0, 8
    bnez t0, woken
    wfi
    j core
woken:
    addi a0, a0, -1
    tail partita_serve

sleep:
    wfi
    j sleep

    .balign 4
trap:
    csrr a0, mcause
    csrr a1, mepc
    la sp, trap_stack_end
    tail partita_trapped

    .section .noclear, "aw", @nobits
    .balign 16
    .space 4096
trap_stack_end:
