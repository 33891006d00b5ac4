/*
 * The first instructions of both cores, at EL2, and the way into a guest at EL1 and back: all that C cannot say.
 *
 *	uint64_t guest_run(struct guest *guest)		0 when it called, 1 when an interrupt came
 */
#define GUEST_PC (31 * 8)
#define STACK_SHIFT 16

	/* Most registers of the guest, at x0. */
	.macro	guest_registers how
	\how	x2, x3, [x0, #2 * 8]
	\how	x4, x5, [x0, #4 * 8]
	\how	x6, x7, [x0, #6 * 8]
	\how	x8, x9, [x0, #8 * 8]
	\how	x10, x11, [x0, #10 * 8]
	\how	x12, x13, [x0, #12 * 8]
	\how	x14, x15, [x0, #14 * 8]
	\how	x16, x17, [x0, #16 * 8]
	\how	x18, x19, [x0, #18 * 8]
	\how	x20, x21, [x0, #20 * 8]
	\how	x22, x23, [x0, #22 * 8]
	\how	x24, x25, [x0, #24 * 8]
	\how	x26, x27, [x0, #26 * 8]
	\how	x28, x29, [x0, #28 * 8]
	.endm

	.section .start, "ax"
	.globl start
start:
#ifdef __AARCH64EB__
	mrs	x1, sctlr_el2
	orr	x1, x1, #(1 << 25)		/* EE: data lies the other way round */
	msr	sctlr_el2, x1
	isb
#endif
	mrs	x1, mpidr_el1
	and	x1, x1, #0xff
	adrp	x2, stack_top
	add	x2, x2, :lo12:stack_top
	sub	x2, x2, x1, lsl #STACK_SHIFT
	mov	sp, x2
	adrp	x2, vectors
	add	x2, x2, :lo12:vectors
	msr	vbar_el2, x2
	mov	x2, #(1 << 31)			/* RW: the guest has 64 bits */
	orr	x2, x2, #(1 << 4)		/* IMO: interrupts are ours */
	msr	hcr_el2, x2
	mrs	x2, cntpct_el0
	msr	cntvoff_el2, x2			/* the guest's time begins now */
	isb
	cbnz	x1, 3f
	adrp	x2, bss_start
	add	x2, x2, :lo12:bss_start
	adrp	x3, bss_end
	add	x3, x3, :lo12:bss_end
1:	cmp	x2, x3
	b.hs	2f
	str	xzr, [x2], #8
	b	1b
2:	bl	firmware_main
3:	bl	board_start_core
stop:
	wfi
	b	stop

	.text
	.globl guest_run
guest_run:
	stp	x19, x20, [sp, #-112]!
	stp	x21, x22, [sp, #16]
	stp	x23, x24, [sp, #32]
	stp	x25, x26, [sp, #48]
	stp	x27, x28, [sp, #64]
	stp	x29, x30, [sp, #80]
	str	x0, [sp, #96]
	ldp	x1, x2, [x0, #GUEST_PC]
	msr	elr_el2, x1
	msr	spsr_el2, x2
	guest_registers ldp
	ldr	x30, [x0, #30 * 8]
	ldp	x0, x1, [x0]
	eret

left:	/* x0 and x1 are the guest's, on the stack; x1 says why it stopped. */
	ldr	x0, [sp, #16 + 96]
	guest_registers stp
	str	x30, [x0, #30 * 8]
	ldp	x2, x3, [sp], #16
	stp	x2, x3, [x0]
	mrs	x2, elr_el2
	mrs	x3, spsr_el2
	stp	x2, x3, [x0, #GUEST_PC]
	mov	x0, x1
	ldp	x21, x22, [sp, #16]
	ldp	x23, x24, [sp, #32]
	ldp	x25, x26, [sp, #48]
	ldp	x27, x28, [sp, #64]
	ldp	x29, x30, [sp, #80]
	ldp	x19, x20, [sp], #112
	ret

	/* Calls now and then, and waits for interrupts that it never sees. */
	.globl guest_code
guest_code:
	add	x0, x0, #1
	hvc	#0
	tst	x0, #3
	b.ne	guest_code
	wfi
	b	guest_code

	.balign 2048
vectors:
	.rept	8			/* at this level: there is none that we would know of */
	b	stop
	.balign	128
	.endr
	stp	x0, x1, [sp, #-16]!	/* the guest's calls */
	mov	x1, #0
	b	left
	.balign	128
	stp	x0, x1, [sp, #-16]!	/* interrupts */
	mov	x1, #1
	b	left
	.balign	128
	.rept	6
	b	stop
	.balign	128
	.endr
