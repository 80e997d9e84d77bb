_ZN4kerndot_one_accumulatorE:
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
	jle	.LBB0_5
	movq	88(%rsp), %r9
	movq	32(%rsp), %rsi
	movl	%r8d, %ecx
	andl	$3, %ecx
	cmpq	$4, %r8
	jae	.LBB0_18
	xorps	%xmm3, %xmm3
	xorl	%r10d, %r10d
	jmp	.LBB0_9
.LBB0_5:
	xorps	%xmm3, %xmm3
	jmp	.LBB0_11
.LBB0_18:
	movabsq	$9223372036854775804, %r10
	andq	%r10, %r8
	xorps	%xmm3, %xmm3
	xorl	%r10d, %r10d
	.p2align	4
.LBB0_19:
	movss	(%rsi,%r10,4), %xmm0
	movss	4(%rsi,%r10,4), %xmm1
	mulss	(%r9,%r10,4), %xmm0
	mulss	4(%r9,%r10,4), %xmm1
	addss	%xmm3, %xmm0
	movss	8(%rsi,%r10,4), %xmm2
	mulss	8(%r9,%r10,4), %xmm2
	addss	%xmm0, %xmm1
	movss	12(%rsi,%r10,4), %xmm3
	mulss	12(%r9,%r10,4), %xmm3
	addss	%xmm1, %xmm2
	addq	$4, %r10
	addss	%xmm2, %xmm3
	cmpq	%r10, %r8
	jne	.LBB0_19
	testq	%rcx, %rcx
	je	.LBB0_11
.LBB0_9:
	leaq	(%r9,%r10,4), %r8
	leaq	(%rsi,%r10,4), %rsi
	xorl	%r9d, %r9d
	.p2align	4
.LBB0_10:
	movss	(%rsi,%r9,4), %xmm0
	mulss	(%r8,%r9,4), %xmm0
	addss	%xmm0, %xmm3
	incq	%r9
	cmpq	%r9, %rcx
	jne	.LBB0_10
.LBB0_11:
	testq	%rax, %rax
	je	.LBB0_14
	#MEMBARRIER
	lock		decq	(%rax)
	je	.LBB0_13
.LBB0_14:
	testq	%rdx, %rdx
	je	.LBB0_17
.LBB0_15:
	#MEMBARRIER
	lock		decq	(%rdx)
	je	.LBB0_16
.LBB0_17:
	movss	%xmm3, (%rdi)
	xorl	%eax, %eax
	addq	$8, %rsp
	popq	%rbx
	popq	%r14
	retq
.LBB0_13:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rax, %rdi
	movq	%rdx, %r14
	movss	%xmm3, 4(%rsp)
	callq	NRT_MemInfo_call_dtor@PLT
	movss	4(%rsp), %xmm3
	movq	%r14, %rdx
	movq	%rbx, %rdi
	testq	%rdx, %rdx
	jne	.LBB0_15
	jmp	.LBB0_17
.LBB0_16:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rdx, %rdi
	movss	%xmm3, 4(%rsp)
	callq	NRT_MemInfo_call_dtor@PLT
	movss	4(%rsp), %xmm3
	movq	%rbx, %rdi
	jmp	.LBB0_17
