/*
 * sys/arch/x86_64/thunk: a system call with what is recorded before and behind it.
 *
 * On entry: every register as the program has it at its `syscall`, but for the two that the kernel uses for itself: rcx has where to go
 * on, and r11 the address behind that `syscall`, which is where the thunk was called from to whoever walks the stack. Flags and all other
 * registers are as the kernel leaves them when it goes on. The C below uses general registers only.
 *
 * All calls between sys_range_begin and sys_range_end go to the kernel unseen.
 */
#if defined(__x86_64__) && !defined(__ILP32__)

#define RESULT 0
#define FLAGS 8
#define NUMBER 16
#define ARGS 24
#define SHOWN 72
#define AFTER 80
#define CALL 88
#define RED 128

.macro BEGIN name
	.globl \name
	.hidden \name
	.type \name, @function
	.balign 64
\name:
.endm

.macro END name
	.size \name, . - \name
.endm

#define PUSH(reg) pushq reg; .cfi_adjust_cfa_offset 8

/* struct calls_frame, below `shown`. */
.macro SAVE
	PUSH(%r9)
	PUSH(%r8)
	PUSH(%r10)
	PUSH(%rdx)
	PUSH(%rsi)
	PUSH(%rdi)
	PUSH(%rax)
	/* The arithmetic flags: all but overflow in ah, that in al. */
	lahf
	seto %al
	PUSH(%rax)
	leaq -8(%rsp), %rsp
	.cfi_adjust_cfa_offset 8
.endm

.macro LOAD_ARGS
	movq ARGS(%rsp), %rdi
	movq ARGS + 8(%rsp), %rsi
	movq ARGS + 16(%rsp), %rdx
	movq ARGS + 24(%rsp), %r10
	movq ARGS + 32(%rsp), %r8
	movq ARGS + 40(%rsp), %r9
.endm

/* As the kernel leaves them. */
.macro LOAD_ALL
	movq FLAGS(%rsp), %rax
	addb $0x7f, %al
	sahf
	LOAD_ARGS
	movq RESULT(%rsp), %rax
	movq SHOWN(%rsp), %r11
	movq AFTER(%rsp), %rcx
.endm

	.text
	.globl sys_range_begin
	.hidden sys_range_begin
sys_range_begin:
	/* For the tool, which makes calls in threads that it has borrowed. */
	syscall
	hlt

	BEGIN sys_thunk
	.cfi_startproc
	.cfi_def_cfa %rsp, 0
	.cfi_register %rip, %r11
	leaq -RED(%rsp), %rsp
	.cfi_adjust_cfa_offset RED
	PUSH(%rcx)
	PUSH(%r11)
	.cfi_offset %rip, -RED - 16
	SAVE
	movq %rsp, %rdi
	call sys_enter
	testl %eax, %eax
	jnz 3f
0:
	LOAD_ARGS
	movq NUMBER(%rsp), %rax
	/* From here on a signal of libc's finds the thread at the program's own `syscall`; one that came before is sent again. */
	.globl sys_going
	.hidden sys_going
sys_going:
	movq sys_coming@gottpoff(%rip), %rcx
	cmpb $1, %fs:(%rcx)
	ja 10f
	syscall
	.globl sys_within
	.hidden sys_within
sys_within:
	movq %rax, RESULT(%rsp)
1:
	movq %rsp, %rdi
	call sys_exit
2:
	LOAD_ALL
	leaq RED + CALL(%rsp), %rsp
	.cfi_def_cfa %rsp, 0
	.cfi_register %rip, %r11
	jmp *%rcx
	.cfi_def_cfa %rsp, RED + CALL
	.cfi_offset %rip, -RED - 16
3:
	cmpl $2, %eax
	jb 1b
	je 4f
	cmpl $4, %eax
	jb 5f
	je 6f
	cmpl $6, %eax
	jb 7f
	je 8f
	jmp 2b
4:	/* SYS_SILENT */
	LOAD_ARGS
	movq NUMBER(%rsp), %rax
	syscall
	movq %rax, RESULT(%rsp)
	jmp 2b
7:	/* SYS_CLONE */
	LOAD_ARGS
	movq RESULT(%rsp), %rsi
	movq NUMBER(%rsp), %rax
	syscall
	testq %rax, %rax
	jz 9f
	movq %rax, RESULT(%rsp)
	jmp 1b
8:	/* SYS_CLONE3 */
	LOAD_ARGS
	movq RESULT(%rsp), %rdi
	movq NUMBER(%rsp), %rax
	syscall
	testq %rax, %rax
	jz 9f
	movq %rax, RESULT(%rsp)
	jmp 1b
9:	/* The child, on its own stack, which has a copy of ours. */
	movq %rax, RESULT(%rsp)
	movq %rsp, %rdi
	call sys_born
	jmp 2b
10:	/* A signal has come. */
	call sys_send_again
	movl %eax, %edi
	shrq $32, %rax
	jz 0b
	movl %eax, %esi
	movl $200, %eax
	syscall
	.globl sys_sent
	.hidden sys_sent
sys_sent:
	jmp 0b
	/* Of who is from here on nothing on the stack tells where it goes. */
	.globl sys_untold_begin
	.hidden sys_untold_begin
sys_untold_begin:
	.cfi_undefined %rip
5:	/* SYS_SIGRETURN */
	leaq RED + CALL(%rsp), %rsp
	movq $15, %rax
	syscall
	hlt
6:	/* SYS_VFORK */
	LOAD_ARGS
	movq NUMBER(%rsp), %rax
	leaq RED + CALL(%rsp), %rsp
	syscall
	/* The child, and then its parent when that has done with the stack. */
	leaq -RED(%rsp), %rsp
	pushq %rcx
	pushq %rcx
	SAVE
	movq NUMBER(%rsp), %rax
	movq %rax, RESULT(%rsp)
	movq %rsp, %rdi
	call sys_vforked
	LOAD_ALL
	leaq RED + CALL(%rsp), %rsp
	jmp *%rcx
	.globl sys_untold_end
	.hidden sys_untold_end
sys_untold_end:
	.cfi_endproc
	END sys_thunk

/* long sys_raw(number, a, b, c, d, e, f) */
	BEGIN sys_raw
	.cfi_startproc
	movq %rdi, %rax
	movq %rsi, %rdi
	movq %rdx, %rsi
	movq %rcx, %rdx
	movq %r8, %r10
	movq %r9, %r8
	movq 8(%rsp), %r9
	syscall
	ret
	.cfi_endproc
	END sys_raw

/* long sys_raw_old(const uint64_t args[7]) */
	BEGIN sys_raw_old
	.cfi_startproc
	pushq %rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	pushq %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbp, -24
	movl (%rdi), %eax
	movl 8(%rdi), %ebx
	movl 16(%rdi), %ecx
	movl 24(%rdi), %edx
	movl 32(%rdi), %esi
	movl 48(%rdi), %ebp
	movl 40(%rdi), %edi
	int $0x80
	popq %rbp
	.cfi_adjust_cfa_offset -8
	popq %rbx
	.cfi_adjust_cfa_offset -8
	cltq
	ret
	.cfi_endproc
	END sys_raw_old

/* Where our signal handler returns to. Unwinders know it by its bytes; the one before it belongs to nobody. */
	nop
	BEGIN sys_restorer
	movq $15, %rax
	syscall
	END sys_restorer
	/* A call is within if what comes behind it is. */
	hlt

	.globl sys_range_end
	.hidden sys_range_end
sys_range_end:

/* Before a handler of the program: told, and on to it, with the stack and the arguments as the kernel made them. */
	BEGIN sys_deliver
	.cfi_startproc
	endbr64
	PUSH(%rdi)
	PUSH(%rsi)
	PUSH(%rdx)
	call sys_deliver_note
	popq %rdx
	.cfi_adjust_cfa_offset -8
	popq %rsi
	.cfi_adjust_cfa_offset -8
	popq %rdi
	.cfi_adjust_cfa_offset -8
	movq %rax, %r11
	xorl %eax, %eax
	jmp *%r11
	.cfi_endproc
	END sys_deliver

#endif
	.section .note.GNU-stack, "", %progbits
