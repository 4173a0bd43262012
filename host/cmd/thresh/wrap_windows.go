package main

import (
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

func endWithThis(*exec.Cmd) {}

// endStarted makes an agent that was started end when this process does, however it ends. It is in a job that the system
// ends with the last handle, which this process never closes; what the agent starts is outside of the job, as it may be
// meant to stay. Where the system refuses, the agent runs all the same.
func endStarted(agent *exec.Cmd) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE |
		windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		_ = agent.Process.WithHandle(func(h uintptr) { err = windows.AssignProcessToJobObject(job, windows.Handle(h)) })
	}
	if err != nil {
		_ = windows.CloseHandle(job)
	}
}
