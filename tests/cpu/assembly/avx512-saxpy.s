_ZN4kernsaxpyE:
	pushq	%r14
	pushq	%rbx
	pushq	%rax
	movq	56(%rsp), %rax
	testq	%rdx, %rdx
	je	.LBB0_2
	lock		incq	(%rdx)
.LBB0_2:
	testq	%rax, %rax
	je	.LBB0_4
	lock		incq	(%rax)
.LBB0_4:
	testq	%r8, %r8
	jle	.LBB0_23
	movq	88(%rsp), %rcx
	movq	32(%rsp), %rsi
	vcvtsd2ss	%xmm0, %xmm0, %xmm0
	cmpq	$8, %r8
	jb	.LBB0_6
	leaq	(%rcx,%r8,4), %r9
	leaq	(%rsi,%r8,4), %r10
	cmpq	%r10, %rcx
	setb	%r10b
	cmpq	%r9, %rsi
	setb	%r9b
	testb	%r9b, %r10b
	je	.LBB0_9
.LBB0_6:
	xorl	%r9d, %r9d
.LBB0_18:
	movq	%r8, %r11
	movq	%r9, %r10
	andq	$3, %r11
	je	.LBB0_21
	movq	%r9, %r10
	.p2align	4
.LBB0_20:
	vmulss	(%rsi,%r10,4), %xmm0, %xmm1
	vaddss	(%rcx,%r10,4), %xmm1, %xmm1
	vmovss	%xmm1, (%rcx,%r10,4)
	incq	%r10
	decq	%r11
	jne	.LBB0_20
.LBB0_21:
	subq	%r8, %r9
	cmpq	$-4, %r9
	ja	.LBB0_23
	.p2align	4
.LBB0_22:
	vmulss	(%rsi,%r10,4), %xmm0, %xmm1
	vaddss	(%rcx,%r10,4), %xmm1, %xmm1
	vmovss	%xmm1, (%rcx,%r10,4)
	vmulss	4(%rsi,%r10,4), %xmm0, %xmm1
	vaddss	4(%rcx,%r10,4), %xmm1, %xmm1
	vmovss	%xmm1, 4(%rcx,%r10,4)
	vmulss	8(%rsi,%r10,4), %xmm0, %xmm1
	vaddss	8(%rcx,%r10,4), %xmm1, %xmm1
	vmovss	%xmm1, 8(%rcx,%r10,4)
	vmulss	12(%rsi,%r10,4), %xmm0, %xmm1
	vaddss	12(%rcx,%r10,4), %xmm1, %xmm1
	vmovss	%xmm1, 12(%rcx,%r10,4)
	addq	$4, %r10
	cmpq	%r10, %r8
	jne	.LBB0_22
.LBB0_23:
	testq	%rax, %rax
	je	.LBB0_25
	#MEMBARRIER
	lock		decq	(%rax)
	je	.LBB0_28
.LBB0_25:
	testq	%rdx, %rdx
	je	.LBB0_27
.LBB0_26:
	#MEMBARRIER
	lock		decq	(%rdx)
	je	.LBB0_29
.LBB0_27:
	movq	$0, (%rdi)
	xorl	%eax, %eax
	addq	$8, %rsp
	popq	%rbx
	popq	%r14
	vzeroupper
	retq
.LBB0_9:
	movabsq	$9223372036854775744, %r10
	cmpq	$64, %r8
	jae	.LBB0_11
	xorl	%r9d, %r9d
	jmp	.LBB0_15
.LBB0_11:
	movq	%r8, %r9
	andq	%r10, %r9
	vbroadcastss	%xmm0, %zmm1
	xorl	%r11d, %r11d
	.p2align	4
.LBB0_12:
	vmulps	(%rsi,%r11,4), %zmm1, %zmm2
	vmulps	64(%rsi,%r11,4), %zmm1, %zmm3
	vmulps	128(%rsi,%r11,4), %zmm1, %zmm4
	vmulps	192(%rsi,%r11,4), %zmm1, %zmm5
	vaddps	(%rcx,%r11,4), %zmm2, %zmm2
	vaddps	64(%rcx,%r11,4), %zmm3, %zmm3
	vaddps	128(%rcx,%r11,4), %zmm4, %zmm4
	vaddps	192(%rcx,%r11,4), %zmm5, %zmm5
	vmovups	%zmm2, (%rcx,%r11,4)
	vmovups	%zmm3, 64(%rcx,%r11,4)
	vmovups	%zmm4, 128(%rcx,%r11,4)
	vmovups	%zmm5, 192(%rcx,%r11,4)
	addq	$64, %r11
	cmpq	%r11, %r9
	jne	.LBB0_12
	cmpq	%r9, %r8
	je	.LBB0_23
	testb	$56, %r8b
	je	.LBB0_18
.LBB0_15:
	movq	%r9, %r11
	addq	$56, %r10
	movq	%r10, %r9
	andq	%r8, %r9
	vbroadcastss	%xmm0, %ymm1
	.p2align	4
.LBB0_16:
	vmulps	(%rsi,%r11,4), %ymm1, %ymm2
	vaddps	(%rcx,%r11,4), %ymm2, %ymm2
	vmovups	%ymm2, (%rcx,%r11,4)
	addq	$8, %r11
	cmpq	%r11, %r9
	jne	.LBB0_16
	cmpq	%r9, %r8
	je	.LBB0_23
	jmp	.LBB0_18
.LBB0_28:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rax, %rdi
	movq	%rdx, %r14
	vzeroupper
	callq	NRT_MemInfo_call_dtor@PLT
	movq	%r14, %rdx
	movq	%rbx, %rdi
	testq	%rdx, %rdx
	jne	.LBB0_26
	jmp	.LBB0_27
.LBB0_29:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rdx, %rdi
	vzeroupper
	callq	NRT_MemInfo_call_dtor@PLT
	movq	%rbx, %rdi
	jmp	.LBB0_27
