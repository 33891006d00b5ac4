#!/bin/sh
# Go's code makes system calls on stacks that have no room for anybody else: a program of Go and C does the same with its calls traced.
. "$RINGSIDE_SOURCE/tests/sys/stage.sh"

have go || { echo "go is missing"; exit 77; }
mkdir -p "$dir/mixture" && cd "$dir/mixture" || exit 1
printf 'module mixture\n' >go.mod
cat >main.go <<'END'
package main

// #include <unistd.h>
// static int twice(int x) { getppid(); return 2 * x; }
import "C"
import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

// Calls at every depth, so that some stack is nearly full at one, beside others that are full of numbers.
func dive(n int, wrong *int) {
	var pad [8]int

	for i := range pad {
		pad[i] = n * i
	}
	if n > 0 {
		dive(n-1, wrong)
	} else {
		for i := 0; i < 4; i++ {
			os.Getppid()
			runtime.Gosched()
		}
	}
	for i := range pad {
		if pad[i] != n*i {
			*wrong++
		}
	}
}

func main() {
	var all sync.WaitGroup
	wrong := make([]int, 400)

	for round := 0; round < 10; round++ {
		for i := range wrong {
			all.Add(1)
			go func(i int) {
				defer all.Done()
				dive(i, &wrong[i])
			}(i)
		}
		all.Wait()
	}
	fmt.Println(C.twice(21), wrong)
}
END
HOME=$dir GOFLAGS=-mod=mod CGO_ENABLED=1 GOCACHE=$dir/cache go build -o "$dir/go_and_c" . 2>"$dir/errors" ||
	{ echo "go builds no program with C: $(head -n 1 "$dir/errors")"; exit 77; }
cd "$dir" || exit 1
same go_and_c ./go_and_c
exit "$bad"
