_ZN4kerndot_four_accumulatorsE:
	str	d8, [sp, #-32]!
	ldr	x8, [sp, #56]
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
	cmp	x7, #1
	b.lt	.LBB0_11
	ldr	x9, [sp, #104]
	ldr	x10, [sp, #88]
	movi	d0, #0000000000000000
	ldr	x11, [sp, #32]
	cmp	x7, #8
	b.hs	.LBB0_16
	mov	x12, xzr
.LBB0_7:
	movi	d2, #0000000000000000
	movi	d3, #0000000000000000
	movi	d1, #0000000000000000
.LBB0_8:
	mul	x14, x12, x11
	sub	x13, x7, x12
	lsl	x11, x11, #2
	mul	x15, x12, x9
	lsl	x9, x9, #2
	add	x12, x6, x14, lsl #2
	add	x10, x10, x15, lsl #2
	add	x12, x12, #8
	add	x10, x10, #8
	.p2align	5, , 16
.LBB0_9:
	ldp	s4, s5, [x12, #-8]
	ldp	s7, s16, [x10, #-8]
	subs	x13, x13, #1
	fmul	s5, s5, s16
	fmul	s4, s4, s7
	ldp	s6, s7, [x12]
	ldp	s17, s16, [x10]
	add	x12, x12, x11
	add	x10, x10, x9
	fadd	s3, s3, s5
	fadd	s1, s1, s4
	fmul	s4, s7, s16
	fmul	s6, s6, s17
	fadd	s0, s0, s4
	fadd	s2, s2, s6
	b.ne	.LBB0_9
.LBB0_10:
	fadd	s1, s1, s3
	fadd	s0, s2, s0
	fadd	s8, s1, s0
	cbnz	x8, .LBB0_12
	b	.LBB0_13
.LBB0_11:
	movi	d8, #0000000000000000
	cbz	x8, .LBB0_13
.LBB0_12:
	dmb	ish
	mov	x9, #-1
	ldadd	x9, x9, [x8]
	cmp	x9, #1
	b.eq	.LBB0_21
.LBB0_13:
	cbz	x2, .LBB0_15
.LBB0_14:
	dmb	ish
	mov	x8, #-1
	ldadd	x8, x8, [x2]
	cmp	x8, #1
	b.eq	.LBB0_22
.LBB0_15:
	ldp	x20, x19, [sp, #16]
	ldr	x30, [sp, #8]
	str	s8, [x0]
	mov	w0, wzr
	ldr	d8, [sp], #32
	ret
.LBB0_16:
	mov	x12, xzr
	cmp	x11, #1
	b.ne	.LBB0_7
	movi	d2, #0000000000000000
	movi	d3, #0000000000000000
	cmp	x9, #1
	movi	d1, #0000000000000000
	b.ne	.LBB0_8
	and	x12, x7, #0x7ffffffffffffff8
	add	x13, x6, #16
	add	x14, x10, #16
	and	x15, x7, #0x7ffffffffffffff8
	.p2align	5, , 16
.LBB0_19:
	ldp	q4, q6, [x13, #-16]
	ldur	q5, [x14, #-16]
	ldur	q7, [x14, #-12]
	subs	x15, x15, #8
	ldur	q16, [x14, #4]
	ldur	q17, [x14, #-8]
	fmul	v5.4s, v4.4s, v5.4s
	ldr	q4, [x14]
	ldur	q18, [x14, #8]
	ldur	q19, [x14, #-4]
	ldur	q20, [x14, #12]
	add	x14, x14, #32
	fadd	s1, s1, s5
	fmul	v4.4s, v6.4s, v4.4s
	ldur	q6, [x13, #-12]
	fmul	v7.4s, v6.4s, v7.4s
	ldur	q6, [x13, #4]
	fadd	s3, s3, s7
	fmul	v6.4s, v6.4s, v16.4s
	ldur	q16, [x13, #-8]
	fmul	v17.4s, v16.4s, v17.4s
	ldur	q16, [x13, #8]
	fadd	s2, s2, s17
	fmul	v16.4s, v16.4s, v18.4s
	ldur	q18, [x13, #-4]
	fmul	v18.4s, v18.4s, v19.4s
	ldur	q19, [x13, #12]
	add	x13, x13, #32
	fadd	s0, s0, s18
	fmul	v19.4s, v19.4s, v20.4s
	mov	s20, v18.s[1]
	fadd	s0, s0, s20
	mov	s20, v17.s[1]
	fadd	s2, s2, s20
	mov	s20, v7.s[1]
	fadd	s3, s3, s20
	mov	s20, v18.s[2]
	mov	s18, v18.s[3]
	fadd	s0, s0, s20
	mov	s20, v17.s[2]
	mov	s17, v17.s[3]
	fadd	s2, s2, s20
	mov	s20, v7.s[2]
	fadd	s0, s0, s18
	mov	s7, v7.s[3]
	fadd	s3, s3, s20
	fadd	s2, s2, s17
	fadd	s0, s0, s19
	fadd	s3, s3, s7
	mov	s7, v19.s[1]
	fadd	s2, s2, s16
	fadd	s0, s0, s7
	mov	s7, v16.s[1]
	fadd	s3, s3, s6
	fadd	s2, s2, s7
	mov	s7, v6.s[1]
	fadd	s3, s3, s7
	mov	s7, v19.s[2]
	fadd	s0, s0, s7
	mov	s7, v16.s[2]
	fadd	s2, s2, s7
	mov	s7, v19.s[3]
	fadd	s0, s0, s7
	mov	s7, v16.s[3]
	fadd	s2, s2, s7
	mov	s7, v6.s[2]
	mov	s6, v6.s[3]
	fadd	s3, s3, s7
	fadd	s3, s3, s6
	mov	s6, v5.s[1]
	fadd	s1, s1, s6
	mov	s6, v5.s[2]
	mov	s5, v5.s[3]
	fadd	s1, s1, s6
	fadd	s1, s1, s5
	mov	s5, v4.s[1]
	fadd	s1, s1, s4
	fadd	s1, s1, s5
	mov	s5, v4.s[2]
	mov	s4, v4.s[3]
	fadd	s1, s1, s5
	fadd	s1, s1, s4
	b.ne	.LBB0_19
	cmp	x7, x12
	b.ne	.LBB0_8
	b	.LBB0_10
.LBB0_21:
	mov	x19, x0
	mov	x0, x8
	dmb	ishld
	mov	x20, x2
	bl	NRT_MemInfo_call_dtor
	mov	x2, x20
	mov	x0, x19
	cbnz	x20, .LBB0_14
	b	.LBB0_15
.LBB0_22:
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
