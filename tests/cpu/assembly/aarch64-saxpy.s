_ZN4kernsaxpyE:
	str	x30, [sp, #-32]!
	ldr	x8, [sp, #40]
	stp	x20, x19, [sp, #16]
	cbz	x2, .LBB0_2
	mov	w9, #1
	ldadd	x9, x9, [x2]
.LBB0_2:
	cbz	x8, .LBB0_4
	mov	w9, #1
	ldadd	x9, x9, [x8]
.LBB0_4:
	cmp	x4, #1
	b.lt	.LBB0_17
	ldr	x9, [sp, #72]
	fcvt	s0, d0
	cmp	x4, #8
	b.lo	.LBB0_8
	add	x10, x6, x4, lsl #2
	cmp	x9, x10
	b.hs	.LBB0_14
	add	x10, x9, x4, lsl #2
	cmp	x6, x10
	b.hs	.LBB0_14
.LBB0_8:
	mov	x10, xzr
.LBB0_9:
	orr	x11, x10, #0x1
	tbz	w4, #0, .LBB0_11
	ldr	s1, [x6, x10, lsl #2]
	fmul	s1, s1, s0
	ldr	s2, [x9, x10, lsl #2]
	fadd	s1, s1, s2
	str	s1, [x9, x10, lsl #2]
	mov	x10, x11
.LBB0_11:
	cmp	x4, x11
	b.eq	.LBB0_17
	sub	x11, x4, x10
	lsl	x10, x10, #2
	add	x10, x10, #4
	add	x9, x9, x10
	add	x10, x6, x10
	.p2align	5, , 16
.LBB0_13:
	ldur	s1, [x10, #-4]
	subs	x11, x11, #2
	fmul	s1, s1, s0
	ldp	s2, s3, [x9, #-4]
	fadd	s1, s1, s2
	stur	s1, [x9, #-4]
	ldr	s1, [x10], #8
	fmul	s1, s1, s0
	fadd	s1, s1, s3
	str	s1, [x9], #8
	b.ne	.LBB0_13
	b	.LBB0_17
.LBB0_14:
	and	x10, x4, #0x7ffffffffffffff8
	add	x11, x9, #16
	add	x12, x6, #16
	and	x13, x4, #0x7ffffffffffffff8
	.p2align	5, , 16
.LBB0_15:
	ldp	q2, q1, [x12, #-16]
	ldp	q4, q3, [x11, #-16]
	subs	x13, x13, #8
	add	x12, x12, #32
	fmul	v1.4s, v1.4s, v0.s[0]
	fmul	v2.4s, v2.4s, v0.s[0]
	fadd	v1.4s, v1.4s, v3.4s
	fadd	v2.4s, v2.4s, v4.4s
	stp	q2, q1, [x11, #-16]
	add	x11, x11, #32
	b.ne	.LBB0_15
	cmp	x4, x10
	b.ne	.LBB0_9
.LBB0_17:
	cbz	x8, .LBB0_19
	dmb	ish
	mov	x9, #-1
	ldadd	x9, x9, [x8]
	cmp	x9, #1
	b.eq	.LBB0_22
.LBB0_19:
	cbz	x2, .LBB0_21
.LBB0_20:
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x2]
	cmp	x8, #1
	b.eq	.LBB0_23
.LBB0_21:
	ldp	x20, x19, [sp, #16]
	str	xzr, [x0]
	mov	w0, wzr
	ldr	x30, [sp], #32
	ret
.LBB0_22:
	mov	x19, x0
	mov	x0, x8
	dmb	ishld
	mov	x20, x2
	bl	NRT_MemInfo_call_dtor
	mov	x2, x20
	mov	x0, x19
	cbnz	x20, .LBB0_20
	b	.LBB0_21
.LBB0_23:
	mov	x19, x0
	mov	x0, x2
	dmb	ishld
	bl	NRT_MemInfo_call_dtor
	mov	x0, x19
	ldp	x20, x19, [sp, #16]
	str	xzr, [x0]
	mov	w0, wzr
	ldr	x30, [sp], #32
	ret
