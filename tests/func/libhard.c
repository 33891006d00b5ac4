/*
 * What hard.c loads and unloads.
 */
int hard_inner(int n);
int hard_lib(int n);

__attribute__((noinline)) int hard_inner(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 7;
}

int hard_lib(int n)
{
	return hard_inner(n) + 1;
}
