/* SPDX-License-Identifier: Apache-2.0
 *
 * Fiber switches. Kernels call the blocking functions of the simulator's ABI here; each saves the
 * fiber, asks its C++ half which fiber goes on, and resumes that one with its result.
 *
 * The resume ends in an indirect jump, not in `ret`: across fibers the return-stack predictor is
 * always wrong, while the indirect predictor is right in code that the lanes run in lockstep.
 */
#define FIBER_SP 144
#define FIBER_RESULT 152

  .text

.macro SAVE
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
.endm

/* Continues the fiber in %rax. */
.macro RESUME
  movq %rax, %rdx
  movq FIBER_SP(%rdx), %rsp
  movq FIBER_RESULT(%rdx), %rax
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmpq *%rcx
.endm

/* The seventh argument, where there is one, lies on the stack: pass it on. For functions with fewer
 * arguments the word pushed is merely alignment. */
.macro BLOCKING name
  .globl cameo_sim_\name
  .hidden cameo_sim_\name
  .type cameo_sim_\name, @function
  .p2align 4
cameo_sim_\name:
  SAVE
  movq %rsp, FIBER_SP(%rdi)
  pushq 56(%rsp)
  call cameo_sim_\name\()_body
  RESUME
  .size cameo_sim_\name, . - cameo_sim_\name
.endm

BLOCKING barrier
BLOCKING shuffle
BLOCKING vote
BLOCKING warp_sync
BLOCKING blocking_instruction

/* void cameo_sim_enter(Fiber *self, Fiber *first): runs fibers until one hands back to self. */
  .globl cameo_sim_enter
  .hidden cameo_sim_enter
  .type cameo_sim_enter, @function
  .p2align 4
cameo_sim_enter:
  SAVE
  movq %rsp, FIBER_SP(%rdi)
  movq %rsi, %rax
  RESUME
  .size cameo_sim_enter, . - cameo_sim_enter

/* A fiber's first instruction; %r12 holds the fiber. */
  .globl cameo_sim_fiber_start
  .hidden cameo_sim_fiber_start
  .type cameo_sim_fiber_start, @function
  .p2align 4
cameo_sim_fiber_start:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  call cameo_sim_fiber_body
  RESUME
  .cfi_endproc
  .size cameo_sim_fiber_start, . - cameo_sim_fiber_start

  .section .note.GNU-stack, "", @progbits
