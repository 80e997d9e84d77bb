_ZN4kerndot_fastmathE:
	str	d8, [sp, #-32]!
	ldr	x8, [sp, #40]
	str	x30, [sp, #8]
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
	b.lt	.LBB0_7
	ldr	x9, [sp, #72]
	cmp	x4, #8
	b.hs	.LBB0_8
	mov	x10, xzr
	movi	d8, #0000000000000000
	b	.LBB0_11
.LBB0_7:
	movi	d8, #0000000000000000
	b	.LBB0_13
.LBB0_8:
	movi	v0.2d, #0000000000000000
	movi	v1.2d, #0000000000000000
	and	x10, x4, #0x7ffffffffffffff8
	add	x11, x9, #16
	add	x12, x6, #16
	and	x13, x4, #0x7ffffffffffffff8
	.p2align	5, , 16
.LBB0_9:
	ldp	q3, q2, [x12, #-16]
	ldp	q5, q4, [x11, #-16]
	subs	x13, x13, #8
	add	x11, x11, #32
	add	x12, x12, #32
	fmla	v1.4s, v4.4s, v2.4s
	fmla	v0.4s, v5.4s, v3.4s
	b.ne	.LBB0_9
	fadd	v0.4s, v1.4s, v0.4s
	cmp	x4, x10
	faddp	v0.4s, v0.4s, v0.4s
	faddp	s8, v0.2s
	b.eq	.LBB0_13
.LBB0_11:
	sub	x11, x4, x10
	add	x9, x9, x10, lsl #2
	add	x10, x6, x10, lsl #2
	.p2align	5, , 16
.LBB0_12:
	ldr	s0, [x10], #4
	subs	x11, x11, #1
	ldr	s1, [x9], #4
	fmadd	s8, s1, s0, s8
	b.ne	.LBB0_12
.LBB0_13:
	cbz	x8, .LBB0_15
	dmb	ish
	mov	x9, #-1
	ldadd	x9, x9, [x8]
	cmp	x9, #1
	b.eq	.LBB0_18
.LBB0_15:
	cbz	x2, .LBB0_17
.LBB0_16:
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x2]
	cmp	x8, #1
	b.eq	.LBB0_19
.LBB0_17:
	ldp	x20, x19, [sp, #16]
	ldr	x30, [sp, #8]
	str	s8, [x0]
	mov	w0, wzr
	ldr	d8, [sp], #32
	ret
.LBB0_18:
	mov	x19, x0
	mov	x0, x8
	dmb	ishld
	mov	x20, x2
	bl	NRT_MemInfo_call_dtor
	mov	x2, x20
	mov	x0, x19
	cbnz	x20, .LBB0_16
	b	.LBB0_17
.LBB0_19:
	mov	x19, x0
	mov	x0, x2
	dmb	ishld
	bl	NRT_MemInfo_call_dtor
	mov	x0, x19
	ldp	x20, x19, [sp, #16]
	ldr	x30, [sp, #8]
	str	s8, [x0]
	mov	w0, wzr
	ldr	d8, [sp], #32
	ret
