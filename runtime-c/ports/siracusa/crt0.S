# The fabric controller, which has no F extension, starts here; it starts the cluster's controller and sleeps. The cluster's
# controller copies code and constants to L1, starts the other cores, and runs and ends the program.
    .equ FABRIC_CACHE, 0x1A108800
    .equ CLUSTER_CACHE, 0x10201400
    .equ BOOT_ADDRESSES, 0x10200040
    .equ FETCH_ENABLE, 0x10200008
    .equ DMA, 0x10204400
    .equ DMA_STATUS, 4
    .equ TO_L1, 1 << 17 | 1 << 18
    .equ PART, 0x10000
    .equ CORES, 9
    .equ CONTROL_CORE, 8

    .macro set_global_pointer
    .option push
    .option norelax
    la gp, __global_pointer$
    .option pop
    .endm

    # from t0 to t1
    .macro clear
1:  bgeu t0, t1, 2f
    sw zero, 0(t0)
    addi t0, t0, 4
    j 1b
2:
    .endm

    .section .start, "ax"
    .globl _start
_start:
    set_global_pointer
    li t1, -1
    li t0, FABRIC_CACHE
    sw t1, 0(t0)
    li t0, CLUSTER_CACHE
    sw t1, 0(t0)
    la t0, __bss_begin
    la t1, __bss_end
    clear
    li t0, BOOT_ADDRESSES
    la t1, start_core
    li t2, CORES
3:  sw t1, 0(t0)
    addi t0, t0, 4
    addi t2, t2, -1
    bnez t2, 3b
    li t0, FETCH_ENABLE
    li t1, 1 << CONTROL_CORE
    sw t1, 0(t0)
4:  wfi
    j 4b

start_core:
    set_global_pointer
    li t0, 0x6000 # mstatus.FS
    csrs mstatus, t0
    csrw fcsr, zero
    la t0, trap
    csrw mtvec, t0
    csrr a0, mhartid
    andi a0, a0, 31
    li t0, CONTROL_CORE
    beq a0, t0, start_control
    la sp, __core_stacks
    addi t0, a0, 1
    la t1, __core_stack_bytes
    mul t0, t0, t1
    add sp, sp, t0
    tail partita_run_core

start_control:
    la t0, __l1_state_begin
    la t1, __l1_state_end
    clear
    la t0, __l1_constants_begin
    la t1, __l1_constants_end
    la t2, __l1_constants_source
4:  bgeu t0, t1, 5f
    lw t3, 0(t2)
    sw t3, 0(t0)
    addi t2, t2, 4
    addi t0, t0, 4
    j 4b
    # by the DMA, a part at a time
5:  la t0, __near_begin
    la t1, __near_end
    la t2, __near_source
    li t3, DMA
    li t4, PART
6:  sub t5, t1, t0
    beqz t5, 9f
    bleu t5, t4, 7f
    mv t5, t4
7:  lw a0, 0(t3) # a number for the transfer
    li a1, TO_L1
    or a1, a1, t5
    sw a1, 0(t3)
    sw t0, 0(t3)
    sw t2, 0(t3)
    li a1, 1
    sll a1, a1, a0
8:  lw a2, DMA_STATUS(t3)
    and a2, a2, a1
    bnez a2, 8b
    sw a1, DMA_STATUS(t3)
    add t0, t0, t5
    add t2, t2, t5
    j 6b
9:  li t0, FETCH_ENABLE
    li t1, (1 << CORES) - 1
    sw t1, 0(t0)
    la sp, __control_stack_end
    tail partita_run_control

    .balign 256
trap:
    tail partita_trap
