#!/bin/sh
# A packet comes in: which functions it goes through, and by which device, without a line of kernel code.
. room

want ringside list -f ip_rcv
for name in ip_rcv_core ip_rcv_finish ip_rcv; do
	has "^$name\$"
done
hasnt '^ip6_input'

want ringside start -p function -l 'ip_rcv*'
packets
want ringside show
has '^# tracer: function$'
all_are ' ping-[0-9]+ +\[00[01]\] .{5} +[0-9]+\.[0-9]{6}: ip_rcv[a-z_.0-9]* <-[a-z_]+$'
[ "$(count ': ip_rcv_core <-ip_rcv$')" -eq 2 ] || fail "not two packets"

# A probe: its event is there at once, with its fields.
want ringside reset
put $tracing/kprobe_events 'p:ip_rcv ip_rcv_core skb=$arg1 net=$arg2'
want ringside list -e kprobes -F --full
has '^system: kprobes$'
has '^name: ip_rcv$'
has '	field:unsigned long __probe_ip;	offset:8;	size:8;	signed:0;'
has '	field:u64 net;	offset:24;	size:8;	signed:0;'
has '^print fmt: "\(%lx\) skb=0x%Lx net=0x%Lx", REC->__probe_ip, REC->skb, REC->net$'
want ringside start -e ip_rcv
packets
want ringside show
all_are ': ip_rcv: \(ip_rcv_core\+0x0/0x[0-9a-f]+\) skb=0xff[0-9a-f]{14} net=0xff[0-9a-f]{14}$'
[ "$(count .)" -eq 14 ] || fail "not two packets"
# All of one network.
[ "$(sed -n 's/.* net=//p' "$out" | sort -u | wc -l)" -eq 1 ] || fail "more than one network"

# The device, by the names of its members.
want ringside reset
put $tracing/kprobe_events 'p:ip_rcv ip_rcv_core skb=$arg1 dev=skb->dev->name:string'
want ringside start -e ip_rcv
packets
want ringside show
all_are ' skb=0xff[0-9a-f]{14} dev="lo"$'

# By where they lay once: a name was the first thing that a device had. Here it is whatever is there now.
for type in '' :string; do
	want ringside reset
	put $tracing/kprobe_events "p:ip_rcv ip_rcv_core skb=\$arg1 dev=+0(+0x10(\$arg1))$type"
	want ringside list -e kprobes -F --full
	has "	field:$([ -n "$type" ] && echo '__data_loc char\[\]' || echo u64) dev;	offset:24;"
	want ringside start -e ip_rcv
	packets
	want ringside show
	[ "$(grep -ac ': ip_rcv: .* skb=0xff[0-9a-f]* dev=' "$out")" -eq 2 ] || fail "not two packets"
done

# And by where they lie: 0x10 is where a buffer has its device, and where that has its name is asked for here, by asking everywhere.
want ringside reset
places=
for at in $(seq 0 8 952); do
	places="$places at$at=+$at(+0x10(\$arg1)):string"
done
put $tracing/kprobe_events "p:ip_rcv ip_rcv_core$places"
want ringside start -e ip_rcv
packets
want ringside show
name=$(grep -o 'at[0-9]*="lo"' "$out" | sed -n '1s/at\([0-9]*\)=.*/\1/p')
[ -n "$name" ] || fail "no name of a device anywhere"
want ringside reset
put $tracing/kprobe_events "p:ip_rcv ip_rcv_core skb=\$arg1 dev=+$name(+0x10(\$arg1)):string first=+0(+0x10(\$arg1))"
want ringside list -e kprobes -F --full
has '	field:__data_loc char\[\] dev;	offset:24;	size:4;	signed:1;'
has 'print fmt: .* dev=\\"%s\\" first=0x%Lx", .* __get_str\(dev\), REC->first$'
want ringside start -e ip_rcv
packets
want ringside show
all_are ' skb=0xff[0-9a-f]{14} dev="lo" first=0x[0-9a-f]+$'

# The same of an event that has the buffer already.
want ringside reset
want ringside list -e netif_receive_skb -F
has '	field:void \* skbaddr;	offset:8;	size:8;	signed:0;'
put $tracing/dynamic_events "e:netdev net/netif_receive_skb dev=+$name(+0x10(\$skbaddr)):string"
want ringside list -e eprobes -F --full
has '	field:__data_loc char\[\] dev;	offset:8;	size:4;	signed:1;'
want ringside start -e netdev
packets
want ringside show
all_are ': netdev: \(net\.netif_receive_skb\) dev="lo"$'
left
