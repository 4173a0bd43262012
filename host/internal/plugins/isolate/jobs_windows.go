package isolate

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

const nothingHere = "a job object cannot do it: a plugin has your rights"

// Groups is for Linux, where launchers wait in control groups.
type Groups struct{}

func OpenGroups() (*Groups, error) { return nil, errors.New(nothingHere) }

func (*Groups) New() (*Group, error) { return nil, nil }

// Group is a job object: a process and all that it starts. It ends with its last handle, which is the host's. A nil
// Group is none.
type Group struct {
	mu  sync.Mutex
	job windows.Handle // 0: removed
}

// Job is what a job takes from a process. The zero value takes nothing.
type Job struct {
	// One keeps the process from starting others.
	One bool
	// Memory is what it may commit, in bytes; 0 is no limit.
	Memory int
}

// NewGroup makes an empty job. The system kills what is in it when the handle is closed, and so when the host ends.
func NewGroup(l Job) (*Group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	g := &Group{job: job}
	info := l.information()
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		return nil, errors.Join(err, g.Remove())
	}
	return g, nil
}

func (l Job) information() (info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION) {
	// Without the second, a crash would wait for a person to close a window.
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE |
		windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
	if l.One {
		info.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
		info.BasicLimitInformation.ActiveProcessLimit = 1
	}
	if l.Memory > 0 {
		info.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_JOB_MEMORY
		info.JobMemoryLimit = uintptr(l.Memory)
	}
	return info
}

// Take puts a process that was started suspended into the job, and lets it run.
func (g *Group) Take(p *os.Process) error {
	var failed error
	err := p.WithHandle(func(h uintptr) {
		if failed = windows.AssignProcessToJobObject(g.job, windows.Handle(h)); failed != nil {
			failed = fmt.Errorf("putting it into a job object: %w", failed)
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return resume(uint32(p.Pid))
}

// resume lets the only thread of a suspended process run. Its handle is not to be had from os/exec.
func resume(pid uint32) error {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(all)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(all, &entry); err == nil; err = windows.Thread32Next(all, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		defer windows.CloseHandle(thread)
		_, err = windows.ResumeThread(thread)
		return err
	}
	return fmt.Errorf("its thread is not to be found: %w", err)
}

// OutOfMemory is not known: an allocation beyond the limit fails in the process, and ends it as that decides.
func (*Group) OutOfMemory() bool { return false }

func (g *Group) Kill() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
	}
}

// Remove ends what is left in the job.
func (g *Group) Remove() error {
	if g == nil {
		return nil
	}
	g.Kill()
	g.mu.Lock()
	defer g.mu.Unlock()
	job := g.job
	if g.job = 0; job == 0 {
		return nil
	}
	return windows.CloseHandle(job)
}

// Probe asks the system for a job with each limit, and whether it keeps it.
func Probe() []Check {
	works, failed := probe()
	checks := none(nothingHere)
	for i, c := range checks {
		switch {
		case !slices.Contains([]Measure{Ending, Memory, Processes}, c.Measure):
		case slices.Contains(works, c.Measure):
			checks[i] = Check{c.Measure, true, "a job object"}
		case failed != nil:
			checks[i].How = "a job object was refused: " + failed.Error()
		default:
			checks[i].How = "this system does not keep a job object's limit"
		}
	}
	return checks
}

func probe() (works []Measure, err error) {
	limits := Job{One: true, Memory: 1 << 30}
	g, err := NewGroup(limits)
	if err != nil {
		return nil, err
	}
	defer g.Remove()
	var got windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	if err := windows.QueryInformationJobObject(g.job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&got)), uint32(unsafe.Sizeof(got)), nil); err != nil {
		return nil, err
	}
	want := limits.information()
	set := got.BasicLimitInformation.LimitFlags
	if set&windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE != 0 {
		works = append(works, Ending)
	}
	if set&windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS != 0 && got.BasicLimitInformation.ActiveProcessLimit == 1 {
		works = append(works, Processes)
	}
	if set&windows.JOB_OBJECT_LIMIT_JOB_MEMORY != 0 && got.JobMemoryLimit == want.JobMemoryLimit {
		works = append(works, Memory)
	}
	return works, nil
}
