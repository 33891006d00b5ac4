/*
 * func/arch/x86_64/thunk: from a patched function to C and back, with every register as it was.
 *
 * Callers within one file may count on registers that a function does not use, whatever the ABI says of them (gcc's -fipa-ra): so all
 * that C may change are kept. The C below uses no vector registers (func/enter.c), and what does goes through
 * func_call_with_vectors(). The processor's flags are kept where they may mean something.
 *
 * On entry of the first four: 0(%rsp) is ours, 8(%rsp) the traced function's return address. To who walks the stack the thunk
 * was called from there.
 */
#if defined(__x86_64__) && !defined(__ILP32__)

#define PUSH(reg) pushq reg; .cfi_adjust_cfa_offset 8
#define POP(reg) popq reg; .cfi_adjust_cfa_offset -8

.macro SAVE_MOST
	PUSH(%rcx)
	PUSH(%rdx)
	PUSH(%rsi)
	PUSH(%rdi)
	PUSH(%r8)
	PUSH(%r9)
	PUSH(%r10)
	PUSH(%r11)
.endm

.macro RESTORE_MOST
	POP(%r11)
	POP(%r10)
	POP(%r9)
	POP(%r8)
	POP(%rdi)
	POP(%rsi)
	POP(%rdx)
	POP(%rcx)
.endm

/* The arithmetic ones: all but overflow in ah, that in al. */
.macro SAVE_FLAGS
	lahf
	seto %al
	PUSH(%rax)
.endm

.macro RESTORE_FLAGS
	POP(%rax)
	addb $0x7f, %al
	sahf
.endm

.macro BEGIN name
	.globl \name
	.hidden \name
	.type \name, @function
	.balign 64
\name:
	.cfi_startproc
.endm

.macro END name
	.cfi_endproc
	.size \name, . - \name
.endm

	.text

/* From `call thunk; nopl NUMBER(%rax); moved instructions`. */
.macro FUNCTION name, flags
	BEGIN \name
	.cfi_def_cfa_offset 16
	PUSH(%rax)
	.if \flags
	SAVE_FLAGS
	.endif
	SAVE_MOST
	movq 72 + 8 * \flags(%rsp), %rax
	movq 80 + 8 * \flags(%rsp), %rsi
	movl 3(%rax), %edi
	shlq $6, %rdi
	addq func_all(%rip), %rdi
	call func_enter
	RESTORE_MOST
	.if \flags
	RESTORE_FLAGS
	.endif
	POP(%rax)
	ret
	END \name
.endm

	FUNCTION func_thunk_function, 0
	FUNCTION func_thunk_function_flags, 1

/* From `push $NUMBER; jmp thunk`: goes on with the moved instructions, or with an edge's code in the place of the return address. */
.macro GRAPH name, flags
	BEGIN \name
	.cfi_def_cfa_offset 16
	PUSH(%rax)
	.if \flags
	SAVE_FLAGS
	.endif
	SAVE_MOST
	movl 72 + 8 * \flags(%rsp), %edi
	leaq 72 + 8 * \flags(%rsp), %rsi
	/* Where SAVE_MOST has put them: struct func_regs. */
	movq %rsp, %rdx
	shlq $6, %rdi
	addq func_all(%rip), %rdi
	call func_enter_graph
	testb %al, %al
	jnz 1f
	RESTORE_MOST
	.if \flags
	RESTORE_FLAGS
	.endif
	POP(%rax)
	leaq 8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jmp *-8(%rsp)
	/* Said in full: clang's assembler goes on counting over remember and restore. */
	.cfi_def_cfa_offset 88 + 8 * \flags
1:
	RESTORE_MOST
	.if \flags
	RESTORE_FLAGS
	.endif
	POP(%rax)
	leaq 16(%rsp), %rsp
	.cfi_adjust_cfa_offset -16
	jmp *-16(%rsp)
	END \name
.endm

	GRAPH func_thunk_graph, 0
	GRAPH func_thunk_graph_flags, 1

/* From an edge's `back`: 0(%rsp), where the return address was, is the place to go on. */
	BEGIN func_thunk_return
	PUSH(%rax)
	SAVE_FLAGS
	SAVE_MOST
	leaq 80(%rsp), %rdi
	call func_leave
	RESTORE_MOST
	RESTORE_FLAGS
	POP(%rax)
	ret
	END func_thunk_return

/* void func_call_with_vectors(void (*fn)(void *arg), void *arg, void *area): kept on the stack if `area` is NULL. */
	BEGIN func_call_with_vectors
	PUSH(%rbp)
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %rbx
	.cfi_offset %rbx, -24
	pushq %r12
	.cfi_offset %r12, -32
	pushq %r13
	.cfi_offset %r13, -40
	movq %rdi, %rbx
	movq %rsi, %r12
	movq %rdx, %r13
	movq func_vectors_size(%rip), %rax
	movl $512, %ecx
	testq %rax, %rax
	cmovzq %rcx, %rax
	testq %r13, %r13
	jnz 1f
	subq %rax, %rsp
	andq $-64, %rsp
	movq %rsp, %r13
1:
	andq $-64, %rsp
	cmpq $0, func_vectors_size(%rip)
	je 2f
	/* The header, of which it writes only a part. */
	xorl %eax, %eax
	movq %rax, 512(%r13)
	movq %rax, 520(%r13)
	movq %rax, 528(%r13)
	movq %rax, 536(%r13)
	movq %rax, 544(%r13)
	movq %rax, 552(%r13)
	movq %rax, 560(%r13)
	movq %rax, 568(%r13)
	movq func_vectors_mask(%rip), %rax
	xorl %edx, %edx
	xsave64 (%r13)
	movq %r12, %rdi
	call *%rbx
	movq func_vectors_mask(%rip), %rax
	xorl %edx, %edx
	xrstor64 (%r13)
	jmp 3f
2:
	fxsave64 (%r13)
	movq %r12, %rdi
	call *%rbx
	fxrstor64 (%r13)
3:
	leaq -24(%rbp), %rsp
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	.cfi_def_cfa %rsp, 8
	ret
	END func_call_with_vectors

#endif
	.section .note.GNU-stack, "", @progbits
