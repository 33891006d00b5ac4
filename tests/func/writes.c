/*
 * Code that can be written and lies beside data that is: what patches it must not take that away. Compiled and run by break.sh.
 */
#include <stdio.h>

int writes(int n);
__asm__(".section .both, \"awx\", @progbits\n"
	".globl writes\n"
	".type writes, @function\n"
	"writes: mov data(%rip), %eax\n"
	"add %edi, %eax\n"
	"mov %eax, data(%rip)\n"
	"ret\n"
	".size writes, . - writes\n"
	"data: .long 5\n"
	".text\n");

int main(void)
{
	int sum = 0;

	for (int i = 0; i < 100; i++)
		sum += writes(i);
	printf("%d\n", sum);
	return 0;
}
