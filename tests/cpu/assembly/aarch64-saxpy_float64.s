_ZN4kernsaxpy_float64E:
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
	b.lt	.LBB0_11
	ldr	x9, [sp, #72]
	cmp	x4, #8
	b.lo	.LBB0_8
	add	x10, x6, x4, lsl #2
	cmp	x9, x10
	b.hs	.LBB0_16
	add	x10, x9, x4, lsl #2
	cmp	x6, x10
	b.hs	.LBB0_16
.LBB0_8:
	mov	x10, xzr
.LBB0_9:
	sub	x11, x4, x10
	add	x9, x9, x10, lsl #2
	add	x10, x6, x10, lsl #2
	.p2align	5, , 16
.LBB0_10:
	ldr	s1, [x10], #4
	subs	x11, x11, #1
	ldr	s2, [x9]
	fcvt	d1, s1
	fcvt	d2, s2
	fmul	d1, d0, d1
	fadd	d1, d1, d2
	fcvt	s1, d1
	str	s1, [x9], #4
	b.ne	.LBB0_10
.LBB0_11:
	cbz	x8, .LBB0_13
	dmb	ish
	mov	x9, #-1
	ldadd	x9, x9, [x8]
	cmp	x9, #1
	b.eq	.LBB0_19
.LBB0_13:
	cbz	x2, .LBB0_15
.LBB0_14:
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x2]
	cmp	x8, #1
	b.eq	.LBB0_20
.LBB0_15:
	ldp	x20, x19, [sp, #16]
	str	xzr, [x0]
	mov	w0, wzr
	ldr	x30, [sp], #32
	ret
.LBB0_16:
	and	x10, x4, #0x7ffffffffffffff8
	add	x11, x9, #16
	add	x12, x6, #16
	and	x13, x4, #0x7ffffffffffffff8
	.p2align	5, , 16
.LBB0_17:
	ldp	q1, q2, [x12, #-16]
	ldp	q3, q4, [x11, #-16]
	subs	x13, x13, #8
	add	x12, x12, #32
	fcvtl	v6.2d, v2.2s
	fcvtl2	v2.2d, v2.4s
	fcvtl	v16.2d, v4.2s
	fcvtl2	v4.2d, v4.4s
	fcvtl	v5.2d, v1.2s
	fcvtl2	v1.2d, v1.4s
	fcvtl	v7.2d, v3.2s
	fmul	v6.2d, v6.2d, v0.d[0]
	fcvtl2	v3.2d, v3.4s
	fmul	v2.2d, v2.2d, v0.d[0]
	fmul	v5.2d, v5.2d, v0.d[0]
	fmul	v1.2d, v1.2d, v0.d[0]
	fadd	v6.2d, v6.2d, v16.2d
	fadd	v2.2d, v2.2d, v4.2d
	fcvtn	v6.2s, v6.2d
	fadd	v5.2d, v5.2d, v7.2d
	fadd	v1.2d, v1.2d, v3.2d
	fcvtn	v5.2s, v5.2d
	fcvtn2	v6.4s, v2.2d
	fcvtn2	v5.4s, v1.2d
	stp	q5, q6, [x11, #-16]
	add	x11, x11, #32
	b.ne	.LBB0_17
	cmp	x4, x10
	b.eq	.LBB0_11
	b	.LBB0_9
.LBB0_19:
	mov	x19, x0
	mov	x0, x8
	dmb	ishld
	mov	x20, x2
	bl	NRT_MemInfo_call_dtor
	mov	x2, x20
	mov	x0, x19
	cbnz	x20, .LBB0_14
	b	.LBB0_15
.LBB0_20:
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
