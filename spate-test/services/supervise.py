"""Runs one server for a Rust process, and ends it when that process ends, however it ends.

usage: python3 -I -S -c SOURCE LOG REMOVE PROGRAM ARG...

Standard input is the owner's: each line is the name of a signal for the server (TERM, KILL, STOP, CONT); its end means
that the owner is gone, and then the server is ended and the folder REMOVE (if not empty) removed. Standard output gets
`pid N`, `stopped` each time that the server stands still after a STOP, and, when the server ends, `exit N` (negative: by
that signal). One thread, so a signal never goes to a pid that has been reaped already.
"""

import ctypes, os, select, shutil, signal, subprocess, sys, time

GRACE_SECONDS = 10.0


def die_with_parent():
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: Linux only, for a supervisor that is killed
    except (OSError, AttributeError):
        pass


def wait(child, seconds):
    end = time.monotonic() + seconds
    while child.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    return child.poll()


def orphaned(child, remove):
    if not remove:  # data that outlives the owner: let the server close its files
        child.send_signal(signal.SIGCONT)
        child.terminate()
        wait(child, GRACE_SECONDS)
    if child.poll() is None:
        child.kill()
        child.wait()
    if remove:
        shutil.rmtree(remove, ignore_errors=True)


def main():
    log, remove, *argv = sys.argv[1:]
    for name in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(name, signal.SIG_IGN)
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write)

    def before_exec():
        for name in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(name, signal.SIG_DFL)
        die_with_parent()

    with open(log, "ab") as out:
        child = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, preexec_fn=before_exec
        )
    print("pid", child.pid, flush=True)
    pending = b""
    while child.poll() is None:
        ready, _, _ = select.select([0, wake_read], [], [])
        if 0 in ready:
            got = os.read(0, 4096)
            if not got:
                return orphaned(child, remove)
            *lines, pending = (pending + got).split(b"\n")
            for line in lines:
                child.send_signal(getattr(signal, "SIG" + line.decode()))
                if line == b"STOP":
                    # All of its threads; one that has ended is told of below.
                    os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                    print("stopped", flush=True)
        if wake_read in ready:
            os.read(wake_read, 4096)
    print("exit", child.returncode, flush=True)


main()
