_ZN4kerndot_four_accumulatorsE:
	pushq	%r15
	pushq	%r14
	pushq	%r13
	pushq	%r12
	pushq	%rbx
	subq	$16, %rsp
	movq	104(%rsp), %rax
	testq	%rdx, %rdx
	je	.LBB0_2
	lock		incq	(%rdx)
.LBB0_2:
	movq	72(%rsp), %r11
	testq	%rax, %rax
	je	.LBB0_4
	lock		incq	(%rax)
.LBB0_4:
	testq	%r11, %r11
	jle	.LBB0_5
	movq	152(%rsp), %rcx
	movq	136(%rsp), %rsi
	movq	80(%rsp), %r8
	movq	64(%rsp), %r9
	cmpq	$1, %r11
	jne	.LBB0_18
	vxorps	%xmm0, %xmm0, %xmm0
	xorl	%r10d, %r10d
	vxorps	%xmm1, %xmm1, %xmm1
	vxorps	%xmm3, %xmm3, %xmm3
	vxorps	%xmm2, %xmm2, %xmm2
	jmp	.LBB0_9
.LBB0_5:
	vxorps	%xmm0, %xmm0, %xmm0
	jmp	.LBB0_11
.LBB0_18:
	movabsq	$9223372036854775806, %rbx
	andq	%r11, %rbx
	leaq	12(%r9), %r14
	leaq	(,%r8,8), %r15
	leaq	12(%rsi), %r12
	leaq	(,%rcx,8), %r13
	vxorps	%xmm0, %xmm0, %xmm0
	xorl	%r10d, %r10d
	vxorps	%xmm1, %xmm1, %xmm1
	vxorps	%xmm3, %xmm3, %xmm3
	vxorps	%xmm2, %xmm2, %xmm2
	.p2align	4
.LBB0_19:
	vmovss	-12(%r14), %xmm4
	vmovss	-8(%r14), %xmm5
	vmulss	-12(%r12), %xmm4, %xmm4
	vmulss	-8(%r12), %xmm5, %xmm5
	vaddss	%xmm4, %xmm2, %xmm2
	vaddss	%xmm5, %xmm3, %xmm3
	vmovss	-4(%r14), %xmm4
	vmulss	-4(%r12), %xmm4, %xmm4
	vaddss	%xmm4, %xmm1, %xmm1
	vmovss	(%r14), %xmm4
	vmulss	(%r12), %xmm4, %xmm4
	vaddss	%xmm4, %xmm0, %xmm0
	vmovss	-12(%r14,%r8,4), %xmm4
	vmovss	-8(%r14,%r8,4), %xmm5
	vmulss	-12(%r12,%rcx,4), %xmm4, %xmm4
	addq	$2, %r10
	vaddss	%xmm4, %xmm2, %xmm2
	vmulss	-8(%r12,%rcx,4), %xmm5, %xmm4
	vmovss	-4(%r14,%r8,4), %xmm5
	vaddss	%xmm4, %xmm3, %xmm3
	vmulss	-4(%r12,%rcx,4), %xmm5, %xmm4
	vaddss	%xmm4, %xmm1, %xmm1
	vmovss	(%r14,%r8,4), %xmm4
	vmulss	(%r12,%rcx,4), %xmm4, %xmm4
	vaddss	%xmm4, %xmm0, %xmm0
	addq	%r15, %r14
	addq	%r13, %r12
	cmpq	%r10, %rbx
	jne	.LBB0_19
	testb	$1, %r11b
	je	.LBB0_10
.LBB0_9:
	imulq	%r10, %r8
	imulq	%r10, %rcx
	vmovss	(%r9,%r8,4), %xmm4
	vmovss	4(%r9,%r8,4), %xmm5
	vmulss	(%rsi,%rcx,4), %xmm4, %xmm4
	vmulss	4(%rsi,%rcx,4), %xmm5, %xmm5
	vaddss	%xmm4, %xmm2, %xmm2
	vaddss	%xmm5, %xmm3, %xmm3
	vmovss	8(%r9,%r8,4), %xmm4
	vmulss	8(%rsi,%rcx,4), %xmm4, %xmm4
	vaddss	%xmm4, %xmm1, %xmm1
	vmovss	12(%r9,%r8,4), %xmm4
	vmulss	12(%rsi,%rcx,4), %xmm4, %xmm4
	vaddss	%xmm4, %xmm0, %xmm0
.LBB0_10:
	vaddss	%xmm0, %xmm1, %xmm0
	vaddss	%xmm3, %xmm2, %xmm1
	vaddss	%xmm0, %xmm1, %xmm0
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
	vmovss	%xmm0, (%rdi)
	xorl	%eax, %eax
	addq	$16, %rsp
	popq	%rbx
	popq	%r12
	popq	%r13
	popq	%r14
	popq	%r15
	retq
.LBB0_13:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rax, %rdi
	movq	%rdx, %r14
	vmovss	%xmm0, 12(%rsp)
	callq	NRT_MemInfo_call_dtor@PLT
	vmovss	12(%rsp), %xmm0
	movq	%r14, %rdx
	movq	%rbx, %rdi
	testq	%rdx, %rdx
	jne	.LBB0_15
	jmp	.LBB0_17
.LBB0_16:
	#MEMBARRIER
	movq	%rdi, %rbx
	movq	%rdx, %rdi
	vmovss	%xmm0, 12(%rsp)
	callq	NRT_MemInfo_call_dtor@PLT
	vmovss	12(%rsp), %xmm0
	movq	%rbx, %rdi
	jmp	.LBB0_17
