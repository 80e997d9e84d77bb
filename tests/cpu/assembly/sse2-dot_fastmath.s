_ZN4kerndot_fastmathE:
	pushq	%r14
	pushq	%rbx
	subq	$24, %rsp
	movq	72(%rsp), %rax
	testq	%rdx, %rdx
	je	.LBB0_2
	lock		incq	(%rdx)
.LBB0_2:
	testq	%rax, %rax
	je	.LBB0_4
	lock		incq	(%rax)
.LBB0_4:
	testq	%r8, %r8
	jle	.LBB0_5
	movq	104(%rsp), %rcx
	movq	48(%rsp), %rsi
	cmpq	$8, %r8
	jae	.LBB0_9
	xorps	%xmm2, %xmm2
	xorl	%r9d, %r9d
	jmp	.LBB0_8
.LBB0_5:
	xorps	%xmm2, %xmm2
	jmp	.LBB0_13
.LBB0_9:
	movabsq	$9223372036854775800, %r9
	andq	%r8, %r9
	xorps	%xmm0, %xmm0
	xorl	%r10d, %r10d
	xorps	%xmm1, %xmm1
	.p2align	4
.LBB0_10:
	movups	(%rsi,%r10,4), %xmm2
	movups	16(%rsi,%r10,4), %xmm3
	movups	(%rcx,%r10,4), %xmm4
	mulps	%xmm2, %xmm4
	addps	%xmm4, %xmm1
	movups	16(%rcx,%r10,4), %xmm2
	mulps	%xmm3, %xmm2
	addps	%xmm2, %xmm0
	addq	$8, %r10
	cmpq	%r10, %r9
	jne	.LBB0_10
	addps	%xmm1, %xmm0
	movaps	%xmm0, %xmm1
	unpckhpd	%xmm0, %xmm1
	addps	%xmm0, %xmm1
	movaps	%xmm1, %xmm2
	shufps	$85, %xmm1, %xmm2
	addss	%xmm1, %xmm2
	jmp	.LBB0_12
.LBB0_8:
	movss	(%rcx,%r9,4), %xmm0
	mulss	(%rsi,%r9,4), %xmm0
	incq	%r9
	addss	%xmm0, %xmm2
.LBB0_12:
	cmpq	%r9, %r8
	jne	.LBB0_8
.LBB0_13:
	testq	%rax, %rax
	je	.LBB0_16
	#MEMBARRIER
	lock		decq	(%rax)
	je	.LBB0_15
.LBB0_16:
	testq	%rdx, %rdx
	je	.LBB0_19
.LBB0_17:
	#MEMBARRIER
	lock		decq	(%rdx)
	je	.LBB0_18
.LBB0_19:
	movss	%xmm2, (%rdi)
	xorl	%eax, %eax
	addq	$24, %rsp
	popq	%rbx
	popq	%r14
	retq
.LBB0_15:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rax, %rdi
	movq	%rdx, %r14
	movaps	%xmm2, (%rsp)
	callq	NRT_MemInfo_call_dtor@PLT
	movaps	(%rsp), %xmm2
	movq	%r14, %rdx
	movq	%rbx, %rdi
	testq	%rdx, %rdx
	jne	.LBB0_17
	jmp	.LBB0_19
.LBB0_18:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rdx, %rdi
	movaps	%xmm2, (%rsp)
	callq	NRT_MemInfo_call_dtor@PLT
	movaps	(%rsp), %xmm2
	movq	%rbx, %rdi
	jmp	.LBB0_19
