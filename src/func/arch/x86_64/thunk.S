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

/*
 * From a call-out: lea -128(%rsp), %rsp; push $POINT; call *thunk. 0(%rsp) is where to go back to, 8(%rsp) the point's number, 144(%rsp)
 * where the stack was. All registers go into a struct probe_hit (layout/probe.h), and what C may change comes back from there:
 *
 *	0 head | 8 ip | 16 ret_ip | 24 ax bx cx dx si di bp sp | 88 r8 .. r15 | 152 flags | 160 arg[6] | 208 flags, in short | 216 ax
 *
 * The flags as a whole are only looked at: to put those back takes ten times as long. To who walks the stack, the program was
 * interrupted at the instruction: what it was about to run knows nothing of us.
 */
#define HIT_SIZE 224

.macro SAVE_HIT above
	leaq -HIT_SIZE(%rsp), %rsp
	.cfi_def_cfa_offset HIT_SIZE + \above
	movq %rax, 24(%rsp)
	movq %rax, 216(%rsp)
	lahf
	seto %al
	movq %rax, 208(%rsp)
	pushfq
	.cfi_adjust_cfa_offset 8
	popq 152(%rsp)
	.cfi_adjust_cfa_offset -8
	movq %rbx, 32(%rsp)
	movq %rcx, 40(%rsp)
	movq %rdx, 48(%rsp)
	movq %rsi, 56(%rsp)
	movq %rdi, 64(%rsp)
	movq %rbp, 72(%rsp)
	leaq HIT_SIZE + \above(%rsp), %rax
	movq %rax, 80(%rsp)
	movq %r8, 88(%rsp)
	movq %r9, 96(%rsp)
	movq %r10, 104(%rsp)
	movq %r11, 112(%rsp)
	movq %r12, 120(%rsp)
	movq %r13, 128(%rsp)
	movq %r14, 136(%rsp)
	movq %r15, 144(%rsp)
.endm

/* Strings run backwards here and there; not in C. */
.macro CALL_HIT function
	testb $4, 153(%rsp)
	jnz 2f
	call \function
1:
	movq 40(%rsp), %rcx
	movq 48(%rsp), %rdx
	movq 56(%rsp), %rsi
	movq 64(%rsp), %rdi
	movq 88(%rsp), %r8
	movq 96(%rsp), %r9
	movq 104(%rsp), %r10
	movq 112(%rsp), %r11
	movq 208(%rsp), %rax
	addb $0x7f, %al
	sahf
	movq 24(%rsp), %rax
	leaq HIT_SIZE(%rsp), %rsp
	ret
2:
	cld
	call \function
	std
	jmp 1b
.endm

	BEGIN func_thunk_point
	.cfi_signal_frame
	.cfi_def_cfa_offset 144
	.cfi_undefined %rip
	SAVE_HIT 144
	movl HIT_SIZE + 8(%rsp), %edi
	leaq (%rdi, %rdi, 2), %rax
	movq func_points(%rip), %rcx
	movq (%rcx, %rax, 8), %rax
	movq %rax, 8(%rsp)
	.cfi_offset %rip, 8 - HIT_SIZE - 144
	.cfi_offset %rax, 24 - HIT_SIZE - 144
	.cfi_offset %rcx, 40 - HIT_SIZE - 144
	.cfi_offset %rdx, 48 - HIT_SIZE - 144
	.cfi_offset %rsi, 56 - HIT_SIZE - 144
	.cfi_offset %rdi, 64 - HIT_SIZE - 144
	.cfi_offset %r8, 88 - HIT_SIZE - 144
	.cfi_offset %r9, 96 - HIT_SIZE - 144
	.cfi_offset %r10, 104 - HIT_SIZE - 144
	.cfi_offset %r11, 112 - HIT_SIZE - 144
	movq %rsp, %rsi
	CALL_HIT func_hit
	END func_thunk_point

/* From an edge's `back`, as func_thunk_return, of a function whose return is probed. */
	BEGIN func_thunk_return_point
	SAVE_HIT 8
	leaq HIT_SIZE(%rsp), %rdi
	movq %rsp, %rsi
	CALL_HIT func_leave_point
	END func_thunk_return_point

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
	.section .note.GNU-stack, "", %progbits
