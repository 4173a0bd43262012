package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// takes has a plugin take more of the machine than it may, and returns how far it came, if it lives to tell.
func takes(name string) string {
	switch name {
	case "fills-its-directory":
		return fillDirectory()
	case "starts-threads":
		return startThreads(9_900)
	case "shares-memory":
		return shareMemory()
	default: // takes-page-tables
		return pageTables()
	}
}

// fillDirectory writes 768 MiB into files of 32 MiB, removes every other one while it is open, and then waits, if all
// of it could be written.
func fillDirectory() string {
	const size, most = 32 << 20, 768 << 20
	written, text := 0, make([]byte, size)
	for ; written < most; written += size {
		f, err := os.CreateTemp("", "filler")
		if err == nil {
			_, err = f.Write(text)
		}
		if err != nil {
			return fmt.Sprintf("%v after %d", errors.Is(err, unix.ENOSPC), written)
		}
		if written/size%2 == 0 {
			_ = os.Remove(f.Name())
		}
	}
	time.Sleep(time.Hour)
	return "never"
}

func startThreads(n int) string {
	release := make(chan struct{})
	for range n {
		go func() {
			runtime.LockOSThread()
			<-release
		}()
	}
	time.Sleep(time.Hour)
	close(release)
	return "never"
}

// shareMemory maps memory that no limit counts, in both ways there are.
func shareMemory() string {
	const size = 1 << 30
	_, anonymous := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS)
	zero, err := os.OpenFile("/dev/zero", os.O_RDWR, 0)
	if err == nil {
		_, err = unix.Mmap(int(zero.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	return fmt.Sprint(anonymous != nil, err != nil)
}

// pageTables reads one byte in each 2 MiB of memory that it never writes to. The kernel needs a page table for each.
func pageTables() string {
	const size = 1 << 40
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return err.Error()
	}
	_ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE)
	sum := byte(0)
	for i := 0; i < size; i += 2 << 20 {
		sum += memory[i]
	}
	time.Sleep(time.Hour)
	return fmt.Sprint(sum)
}
