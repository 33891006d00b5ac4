#!/usr/bin/python3
"""What is built for small boards, run: on a file, to an ordinary listener, and driven by an ordinary `record -A`, with a program that has the board's
runtime. On 32-bit ARM by qemu-user, and where we are."""

import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../net")
import peers
from peers import RINGSIDE, SCRATCH, SOURCE, Machine, fail

# An agent starts recorders, and a kernel has to be told what runs those: in a namespace of our own, where all users are who they are outside.
NAMESPACE = r"""#!/bin/sh
exec 3<&0
unshare -U -m sh -c 'until [ "$(id -u)" = 0 ]; do sleep 0.02; done; exec sh "$@"' sh SCRATCH/binfmt "$@" <&3 3<&- &
until [ "$(readlink /proc/$!/ns/user)" != "$(readlink /proc/$$/ns/user)" ]; do sleep 0.02; done
{ echo 0 0 65536 >/proc/$!/uid_map && echo 0 0 65536 >/proc/$!/gid_map; } || kill $!
wait $!
"""
BINFMT = r"""mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null || exit 99
printf '%s' ':arm:M::\x7fELF\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x28\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:QEMU:F' >/proc/sys/fs/binfmt_misc/register 2>/dev/null || exit 99
exec "$@"
"""
# When a recorder has switched recording on in that directory, the rest of the words are run there.
WHEN_ON = r"""#!/bin/sh
on() {
	for instance in $("$RINGSIDE" cat instances 2>/dev/null); do
		[ "$("$RINGSIDE" cat "instances/${instance%/}/tracing_on" 2>/dev/null)" != 1 ] || return 0
	done
	return 1
}
export RINGSIDE_DIR=$1
shift
i=0
while ! on && [ $i -lt 600 ]; do
	i=$((i + 1))
	sleep 0.05
done
exec "$@"
"""


def script(name, text):
    with open(SCRATCH + "/" + name, "w") as file:
        file.write(text)
    os.chmod(SCRATCH + "/" + name, 0o755)
    return SCRATCH + "/" + name


def files(into):
    """Under what the machine calls itself."""
    return {os.path.join(place, name) for place, _, names in os.walk(into) for name in names if name.endswith(".dat")}


class Board:
    """A machine of that architecture; `run` are the words that run a program of it."""

    def __init__(self, arch, run, agent):
        self.arch, self.run_words, self.agent = arch, run, agent
        built = SOURCE + "/build/board/" + arch
        subprocess.run([SOURCE + "/tools/board", arch], check=True)
        self.dir = SCRATCH + "/" + arch + "-dir"
        self.ringside = built + "/ringside"
        self.ticks = SCRATCH + "/ticks-" + arch
        self.env = dict(os.environ, RINGSIDE_DIR=self.dir, RINGSIDE_KEYS=SCRATCH + "/" + arch)
        subprocess.run([built + "/cc", "-O2", "-I" + SOURCE + "/include", SOURCE + "/tests/net/ticks.c", "-o", self.ticks, built + "/libringside.a"],
                       check=True)

    def run(self, *words, check=True):
        done = subprocess.run([*self.run_words, self.ringside, *words], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=120, check=False)
        if check and done.returncode:
            fail(self.arch, "ringside", *words, "\n" + done.stderr)
        return done

    def emits(self, count):
        return [*self.run_words, self.ticks, str(count), "100"]

    def whole(self, path, count, done):
        seen, lost = peers.ticks_of(path)
        if seen != list(range(count)) or lost:
            fail(self.arch, "%s has %d events of %d, %d lost:" % (path, len(seen), count, lost), done.stderr)

    def records(self):
        path = SCRATCH + "/" + self.arch + ".dat"
        done = self.run("record", "-o", path, "-e", "ticks", *self.emits(3000))
        self.whole(path, 3000, done)
        for words, wanted in ((["--flight"], "--flight is not in a board's ringside"), (["-A", "x"], "--agent is not"), (["--tls"], "it has no TLS"),
                              (["-e", "ticks:tick", "-f", "nr > 3"], "not in a board's ringside"), (["-p", "function"], "")):
            done = self.run("record", "-o", path + ".no", *words, *self.emits(1), check=False)
            if not done.returncode or wanted not in done.stderr or os.path.exists(path + ".no"):
                fail(self.arch, "is not refused as it should be:", words, done.stderr)

    def sends(self, where, into):
        before = files(into)
        done = self.run("record", "-N", "127.0.0.1:%d" % where, "--insecure", "-e", "ticks", *self.emits(3000))
        came = list(files(into) - before)
        if len(came) != 1:
            fail(self.arch, "came as", came, done.stderr)
        self.whole(came[0], 3000, done)
        done = self.run("record", "-N", "10.99.99.99", "-e", "ticks", "true", check=False)
        if not done.returncode:
            fail(self.arch, "sends over a network without TLS")

    def is_driven(self, driver):
        os.makedirs(SCRATCH + "/bin-" + self.arch)
        script("bin-%s/ringside" % self.arch, "#!/bin/sh\nexec %s %s \"$@\"\n" % (" ".join(self.agent), self.ringside))
        script("bin-%s/ssh" % self.arch, "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift 2\n"
               "export RINGSIDE_DIR=%s RINGSIDE_KEYS=%s PATH=%s/bin-%s:$PATH\nexec sh -c \"$1\"\n" %
               (self.dir, self.env["RINGSIDE_KEYS"], SCRATCH, self.arch))
        driver.env["PATH"] = SCRATCH + "/bin-" + self.arch + ":" + os.environ["PATH"]
        path = SCRATCH + "/driven.dat"
        done = driver.run("record", "-o", path, "-A", "ssh://" + self.arch, "-i", "-e", "ticks", SCRATCH + "/when-on", self.dir, *self.emits(3000))
        self.whole(SCRATCH + "/driven-" + self.arch + ".dat", 3000, done)


qemu = shutil.which("qemu-arm")
if not qemu:
    print("qemu-arm is not here")
    sys.exit(77)
script("when-on", WHEN_ON)
script("binfmt", BINFMT.replace("QEMU", qemu))
namespace = [script("namespace", NAMESPACE.replace("SCRATCH", SCRATCH))]
boards = [Board("armhf", [qemu], namespace), Board("amd64", [], [])]
listener, driver = Machine("listener"), Machine("driver")
where = peers.port()
into = SCRATCH + "/got"
os.mkdir(into)
listener.serve(where, "listen", "--insecure", "--into", into)
for board in boards:
    board.records()
    board.sends(where, into)
    if board.arch == "armhf" and (os.getuid() or subprocess.run([*namespace, "true"], timeout=60, check=False).returncode):
        print("no namespace of ours tells the kernel what runs programs for ARM: there is no agent")
        continue
    board.is_driven(driver)
print("both")
