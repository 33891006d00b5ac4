#!/bin/bash
# In the reference machine (`./do vm tests/vm/probes.sh`): probes by name in a real kernel. What members are is told by the kernel's
# own words for the same, which it reads by its own means; each hit has a record of either kind, and they say the same.
mkdir -p /tmp/probes_are_here && cd /tmp/probes_are_here || exit 1
top=/sys/kernel/tracing
out=/tmp/out err=/tmp/err

# The kernel takes its time to write this text, and it will not change.
cp /proc/kallsyms /tmp/kallsyms && mount --bind /tmp/kallsyms /proc/kallsyms || exit 1

fail() {
	echo "FAIL: $*"
	echo "--- stdout:"; cat $out
	echo "--- stderr:"; cat $err
	echo "--- probes:"; cat $top/dynamic_events
	echo "--- log:"; tail -n 6 $top/error_log
	exit 1
}

want() {
	local status=$1
	shift
	ringside "$@" >$out 2>$err
	local got=$?
	[ $got -eq "$status" ] || fail "ringside $*: exit $got, not $status"
}

# refuse TEXT... -- PLACE [ARGUMENT]...
refuse() {
	local texts=()
	while [ "$1" != -- ]; do
		texts+=("$1")
		shift
	done
	shift
	want 1 probe --kernel "$@"
	[ "$(wc -l <$err)" -eq 1 ] || fail "ringside probe --kernel $*: not one line of words"
	for text in "${texts[@]}"; do
		grep -qF -e "$text" $err || fail "ringside probe --kernel $*: does not say '$text'"
	done
	[ ! -s $top/dynamic_events ] || fail "ringside probe --kernel $*: left something behind"
}

# Events of group vmt are on while the command runs, and what they say goes to $out: during COMMAND...
during() {
	echo >$top/trace
	echo 1 >$top/events/vmt/enable || fail "not enabled"
	"$@" >/dev/null 2>&1
	echo 0 >$top/events/vmt/enable
	grep -v '^#' $top/trace >$out
}

# What is behind the place in records of an event.
values() {
	sed -n "s/.* $1: ([^)]*) *//p" $out
}

# Two events say the same, and something.
same() {
	[ -n "$(values "$1")" ] || fail "no $1"
	[ "$(values "$1")" = "$(values "$2")" ] || fail "$1 and $2 differ"
}

gone() {
	want 0 probe --kernel -d 'vmt:*'
	[ ! -s $top/dynamic_events ] || fail "something is left"
}

own() {
	echo "$1" >>$top/dynamic_events 2>$err || fail "the kernel does not take '$1'"
}

ping_lo() {
	ping -c 1 127.0.0.1
}

# ---- functions: members, arrays, bits, texts, what is returned ----
# Bits by themselves: beside its own the kernel loses texts (6.12).
want 0 probe --kernel -a 'vmt:a=ip_rcv_core skb->dev->name:string skb->len skb->protocol skb->dev->ifindex' \
	-a 'vmt:i=ip_rcv_core skb->pkt_type skb->ip_summed skb->cloned skb->fclone' -a 'vmt:k=ip_rcv_core skb->dev->name skb->pkt_type skb->len' \
	-a 'vmt:d=ip_rcv_core $arg1->dev->name' -a 'vmt:r=ip_rcv_core%return $retval $retval->len size=skb->truesize'
own 'p:vmt/b ip_rcv_core name=skb->dev->name:string len=skb->len protocol=skb->protocol ifindex=skb->dev->ifindex'
own 'p:vmt/j ip_rcv_core pkt_type=skb->pkt_type ip_summed=skb->ip_summed cloned=skb->cloned fclone=skb->fclone'
# The chain as people write it by hand.
fetch=$(sed -n 's/^p:vmt.d .*name=//p' $top/kprobe_events)
[[ $fetch =~ ^\+[0-9]+\(\+16\(.arg1\)\):string$ ]] || fail "'$fetch' is no chain of offsets"
own "p:vmt/c ip_rcv_core name=$fetch"
own 'f:vmt/s ip_rcv_core%return retval=$retval:x64 len=$retval->len size=skb->truesize'
during ping_lo
same a b
same c d
[ "$(values c | sort -u)" = 'name="lo"' ] || fail "the device is lo"
values a | grep -q '^name="lo" len=84 protocol=8 ifindex=1$' || fail "members"
same i j
[ "$(values k | sort -u)" = 'name="lo" pkt_type=0 len=84' ] || fail "bits beside a text"
same r s
[ "$(values r | wc -l)" -eq "$(values a | wc -l)" ] || fail "not all return"
gone

# Texts of programs, modules, and several functions of one name, which are as many points of one event.
: >/tmp/a_file_to_open
several=$(awk 'NF == 1 && $1 !~ /[.]|^__/ && seen[$1]++ { print $1; exit }' $top/available_filter_functions)
[ -n "$several" ] || fail "no function is there twice"
want 0 probe --kernel -a 'vmt:a=wake_up_new_task p->comm p->pid p->se.load.weight p->cred->uid.val p->mm->start_code' \
	'p->fs->pwd.dentry->d_name.name:string' -a 'vmt:c=wake_up_new_task p->comm[0] p->comm:x8[4] (struct task_struct *)p->comm:string' \
	-a 'vmt:open=do_sys_openat2 dfd filename:ustring how->flags:x' -a 'vmt:opened=do_sys_openat2%return $retval filename:ustring' \
	-a 'vmt:disk=loop:lo_open disk->disk_name mode' -a "vmt:many=$several" -a 'vmt:later=not_loaded:nothing $arg1'
grep -q 'module not_loaded is not loaded' $err || fail "nothing is said of a module that is not there"
[ "$(grep -c "^p:vmt/many _stext+[0-9]*$" $top/kprobe_events)" -gt 1 ] || fail "$several: not one point for each"
want 0 probe --kernel -l 'vmt:*'
[ "$(grep -c "(on $several)" $out)" -gt 1 ] || fail "the list does not call them $several"
grep -q '^  vmt:opened  *(on do_sys_openat2%return with retval filename)$' $out || fail "the list"
own 'p:vmt/b wake_up_new_task comm=p->comm:string pid=p->pid weight=p->se.load.weight val=p->cred->uid.val start_code=p->mm->start_code name=p->fs->pwd.dentry->d_name.name:string'
during bash -c '(true); (true); cat /tmp/a_file_to_open /tmp/not_there; dd if=/dev/loop0 of=/dev/null count=1'
same a b
values a | grep -q '^comm="bash" pid=[0-9]* .* name="probes_are_here"$' || fail "a task"
values c | grep -q "^comm='b' p_comm={0x62,0x61,0x73,0x68} .*=\"bash\"$" || fail "elements"
values open | grep -q '^dfd=-100 filename="/tmp/a_file_to_open" flags=0x' || fail "a path"
values opened | grep -q '^retval=-2 filename="/tmp/not_there"$' || fail "an error that is returned"
# A module's types go on where the kernel's end.
values disk | grep -q '^disk_name="loop0" mode=[0-9]*$' || fail "a module's types"
gone

# A glob is as many events.
want 0 probe --kernel 'vfs_[rw]*'
grep -q '^  probe:vfs_read (on vfs_read)' $out && grep -q '^  probe:vfs_write ' $out || fail "not all that are meant"
want 0 probe --kernel -d 'probe:*'

# ---- events of events ----
want 0 probe --kernel -a 'vmt:a=net/netif_receive_skb (struct sk_buff *)skbaddr->dev->name (sk_buff)skbaddr->len' \
	-a 'vmt:few=net:netif_receive_skb len if len > 1000' -a 't:vmt/t netif_receive_skb len=skb->len' \
	-a 'vmt:o=syscalls/sys_enter_openat filename:ustring flags:x'
own 'e:vmt/b net.netif_receive_skb name=$name:string len=$len:u32'
during bash -c 'ping -c 1 127.0.0.1; cat /tmp/a_file_to_open'
same a b
values o | grep -q '^filename="/tmp/a_file_to_open" flags=0x' || fail "an argument of a system call"
[ -z "$(values few)" ] && [ -n "$(values t)" ] || fail "a condition, a tracepoint"
gone

# What is in use stays, and is named; the others go.
want 0 probe --kernel -a 'vmt:k=ip_rcv_core skb->len' -a 'vmt:other=vfs_fsync'
echo 1 >$top/events/vmt/k/enable
want 1 probe --kernel -d 'vmt:*'
grep -q 'vmt:k stays: it is on.* 1 are removed, and 0 stay' $err || fail "not told what stays"
grep -q vmt/k $top/dynamic_events && ! grep -q vmt/other $top/dynamic_events || fail "not what is told"
echo 0 >$top/events/vmt/k/enable
gone

# ---- programs: libc is stripped, and some of its functions are chosen when a program starts ----
libc=/lib/x86_64-linux-gnu/libc.so.6
want 0 probe --kernel -x $libc -a 'vmt:m=malloc size=$arg1:u64' -a 'vmt:n=malloc%return $retval' -a 'vmt:l=strlen +0($arg1):ustring'
grep -q IFUNC $err || fail "a function that is chosen"
during ls -l /proc
n=$(values m | wc -l)
[ "$n" -gt 10 ] && [ "$n" -eq "$(sed -n 's/.* n: .* retval=0x[0-9a-f]/&/p' $out | wc -l)" ] || fail "$n calls of malloc, and other returns"
values m | grep -qv '^size=[0-9]*$' && fail "sizes"
[ "$(values l | wc -l)" -gt 10 ] || fail "the function that is chosen is not called"
gone

# ---- what is refused ----
refuse "no function ip_rcv_cor " "did you mean 'ip_rcv_core'" -- 'ip_rcv_cor'
refuse kprobes/blacklist -- do_int3
refuse 'not an instruction boundary' 'ip_rcv_core+1' -- 'ip_rcv_core+1'
refuse 'no event net:netif_receive_sbk' netif_receive_skb -- net/netif_receive_sbk
refuse 'not loaded' 'not known' -- 'not_loaded:no*'
# All of them or none.
refuse preempt_schedule_notrace available_filter_functions -- -a ip_rcv_core -a preempt_schedule_notrace

# ---- what there is ----
want 0 probe --kernel -V 'struct loop_device'
grep -q '^	@0	int lo_number$' $out || fail "a struct of a module"
refuse "no struct 'loop_devise'" -- -V 'struct loop_devise'
want 0 list --kernel -f --why 'preempt_schedule_*'
grep -q '^preempt_schedule_notrace: ' $out || fail "why a function is not traced"
want 0 list --kernel -f
cmp -s $out $top/available_filter_functions || fail "not all functions"
want 0 list --kernel -f --proto '^(ip_rcv_core|lo_open)$'
grep -qx 'struct sk_buff \*ip_rcv_core(struct sk_buff \*skb, struct net \*net)' $out || fail "a prototype"
grep -qx 'int lo_open(struct gendisk \*disk, blk_mode_t mode) \[loop\]' $out || fail "a module's function"
echo ok
