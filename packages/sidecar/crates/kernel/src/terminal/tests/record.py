# Records the behaviour of Linux's line discipline: `python3 record.py linux.json`. Cases whose
# bytes differ between two runs depend on the time, and are left out.
import json, os, pty, sys, termios, time, select, fcntl, errno
F = dict(
 IGNCR=0o200, ICRNL=0o400, INLCR=0o100, IXON=0o2000, ISTRIP=0o40, IUTF8=0o40000, IUCLC=0o1000, IXANY=0o4000,
 OPOST=1, ONLCR=4, OCRNL=0o10, ONOCR=0o20, ONLRET=0o40, OLCUC=2, TAB3=0o14000,
 ISIG=1, ICANON=2, ECHO=0o10, ECHOE=0o20, ECHOK=0o40, ECHONL=0o100, NOFLSH=0o200, ECHOCTL=0o1000, ECHOPRT=0o2000, ECHOKE=0o4000, IEXTEN=0o100000)
BASE=dict(input=0o400|0o2000|0o40000, output=5, local=1|2|8|16|32|0o1000|0o4000|0o100000)
CC=[3,28,127,21,4,0,1,0,17,19,26,0,18,15,23,22,0,0,0]
def set_attrs(fd, i, o, l, cc):
    a = termios.tcgetattr(fd)
    a[0], a[1], a[3] = i, o, l
    for k in range(19): a[6][k] = bytes([cc[k]])
    if not (l & 2):
        a[6][5] = cc[5]; a[6][6] = cc[6]
    termios.tcsetattr(fd, termios.TCSANOW, a)
def drain(fd):
    out=b''
    while True:
        try: b=os.read(fd, 65536)
        except BlockingIOError: break
        except OSError as e:
            break
        if not b: break
        out+=b
    return out
def run(case):
    m,s=pty.openpty()
    for fd in (m,s): fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK)
    set_attrs(s, case['input'], case['output'], case['local'], case['characters'])
    steps=[]
    for step in case['steps']:
        kind=step[0]
        if kind=='type':
            os.write(m, bytes.fromhex(step[1])); time.sleep(0.002)
            steps.append([kind, step[1]])
        elif kind=='print':
            try: n=os.write(s, bytes.fromhex(step[1]))
            except BlockingIOError: n=0
            time.sleep(0.002)
            steps.append([kind, step[1], n])
        elif kind=='read':
            try: b=os.read(s, step[1]).hex()
            except BlockingIOError: b=None
            steps.append([kind, step[1], b])
        elif kind=='set':
            set_attrs(s, *step[1:])
            steps.append(step)
        elif kind=='show':
            time.sleep(0.004)
            steps.append([kind, drain(m).hex()])
    os.close(m); os.close(s)
    return {**case, 'steps': steps}
h=lambda t: t.encode('utf8').hex() if isinstance(t,str) else bytes(t).hex()
cases=[]
def case(name, *steps, input=BASE['input'], output=BASE['output'], local=BASE['local'], characters=CC):
    cases.append(dict(name=name,input=input,output=output,local=local,characters=list(characters),steps=[list(x) for x in steps]))
R=('read',4096); S=('show',)
b=BASE
case('a line', ('type',h('hello\r')),S,R,R)
case('a line in two parts', ('type',h('he')),S,R,('type',h('llo\n')),S,('read',3),('read',100),R)
case('erase', ('type',h('abc\x7f\x7fd\r')),S,R)
case('erase beyond the start', ('type',h('a\x7f\x7f\x7fb\r')),S,R)
case('erase of a control character', ('type',h('a\x01\x7fb\r')),S,R)
case('erase of UTF-8', ('type',h('aä€😀\x7f\x7f\x7fb\r')),S,R)
case('erase of UTF-8 without IUTF8', ('type',h('aä\x7fb\r')),S,R, input=b['input']&~F['IUTF8'])
case('erase of a tab', ('type',h('ab\tc\x7f\x7fd\r')),S,R)
case('erase of two tabs', ('type',h('a\t\tb\x7f\x7f\x7fd\r')),S,R)
case('erase of a tab after output', ('print',h('$ ')),('type',h('abc\t\x7f\tx\x7f\x7f\r')),S,R)
case('kill', ('type',h('abc\x15d\r')),S,R)
case('kill without ECHOKE', ('type',h('abc\x15d\r')),S,R, local=b['local']&~F['ECHOKE'])
case('kill without ECHOK', ('type',h('abc\x15d\r')),S,R, local=b['local']&~F['ECHOK'])
case('kill without ECHO', ('type',h('abc\x15d\r')),S,R, local=b['local']&~F['ECHO'])
case('word erase', ('type',h('one two  \x17three\x17four\r')),S,R)
case('word erase of signs', ('type',h('a.b-c_d e++\x17\x17\x17x\r')),S,R)
case('reprint', ('type',h('abc\x12d\r')),S,R)
case('literal next', ('type',h('a\x16\x03b\x16\x7f\x16\n\x16\rc\r')),S,R)
case('end of the input', ('type',h('ab\x04')),S,R,('type',h('\x04')),R,R,('type',h('c\x04\x04d\r')),R,R,R,S)
case('interrupt drops the input', ('type',h('abc\x03d\r')),S,R)
case('interrupt drops the output', ('print',h('out')),('type',h('\x03')),S)
case('interrupt with NOFLSH', ('type',h('abc\x03d\r')),S,R, local=b['local']|F['NOFLSH'])
case('quit and suspend', ('type',h('a\x1cb\x1ac\r')),S,R)
case('signals without ISIG', ('type',h('a\x03b\x1a\r')),S,R, local=b['local']&~F['ISIG'])
case('signals without ECHOCTL', ('type',h('a\x03b\r')),S,R, local=b['local']&~F['ECHOCTL'])
case('no echo', ('type',h('secret\r')),S,R, local=b['local']&~F['ECHO'])
case('no echo with ECHONL', ('type',h('secret\r')),S,R, local=(b['local']&~F['ECHO'])|F['ECHONL'])
case('erase without ECHOE', ('type',h('abc\x7fd\r')),S,R, local=b['local']&~F['ECHOE'])
case('erase with ECHOPRT', ('type',h('abc\x7f\x7fd\r')),S,('type',h('ab\x7f\x7f\r')),S,R,R, local=b['local']|F['ECHOPRT'])
case('word erase and kill with ECHOPRT', ('type',h('ab cd\x17e\x15f\r')),S,R, local=b['local']|F['ECHOPRT'])
case('IGNCR', ('type',h('a\rb\n')),S,R, input=b['input']|F['IGNCR'])
case('INLCR without ICRNL', ('type',h('a\nb\r')),S,R, input=(b['input']&~F['ICRNL'])|F['INLCR'])
case('ISTRIP', ('type',h([0xe1,0xe2,0x8d,0x0a])),S,R, input=b['input']|F['ISTRIP'])
case('IUCLC', ('type',h('AbC\r')),S,R, input=b['input']|F['IUCLC'])
case('output', ('print',h('a\nb\r\nc\td\be\x01f\n')),S)
case('output without OPOST', ('print',h('a\nb\r\nc\td\n')),S, output=4)
case('output without ONLCR', ('print',h('a\nb\n')),S, output=1)
case('OCRNL and ONOCR', ('print',h('\ra\rb\r\r\nc\r')),S, output=1|F['OCRNL']|F['ONOCR'])
case('ONOCR', ('print',h('\ra\rb\r\r\nc\r')),S, output=5|F['ONOCR'])
case('ONLRET', ('print',h('a\nb\r\tc\n')),('type',h('x\t\x7f\r')),S, output=1|F['ONLRET'])
case('OLCUC', ('print',h('abÄz')),S, output=5|F['OLCUC'])
case('tabs become spaces', ('print',h('a\tb\tä\t\n\t')),S, output=5|F['TAB3'])
case('echo without OPOST', ('type',h('a\tb\x01\r')),S,R, output=0)
case('stop and start', ('type',h('\x13')),('print',h('held')),S,('type',h('\x11')),('print',h('shown')),S)
case('start by any', ('type',h('\x13a')),('print',h('shown')),S, input=b['input']|F['IXANY'])
case('stop without IXON', ('type',h('\x13a\r')),S,R, input=b['input']&~F['IXON'])
case('end of line characters', ('type',h('abc|def;ghi\r')),S,R,R,R, characters=CC[:11]+[ord('|')]+CC[12:16]+[ord(';')]+CC[17:])
case('disabled characters', ('type',h('a\0b\r')),S,R)
raw=dict(input=0,output=0,local=0)
case('raw', ('type',h('a\r\n\x03\x04\x7f\0')),S,R,R, **raw)
case('raw with a least number of 0', R,('type',h('a')),R,R, **raw, characters=CC[:6]+[0]+CC[7:])
case('raw with echo', ('type',h('a\r\n\x03\x04\x7f')),S,R, input=0,output=0,local=8)
case('cbreak', ('type',h('a\r\x7f\x15\x04')),S,R, local=b['local']&~(F['ICANON']|F['ECHO']))
case('cbreak with echo', ('type',h('a\r\x7f\x15\x04\x12')),S,R, local=b['local']&~F['ICANON'])
case('from lines to raw', ('type',h('one\rtw')),('set',0,5,0,CC),R,('type',h('x')),R,S)
case('from raw to lines', ('type',h('abc')),('set',b['input'],5,b['local'],CC),R,('type',h('d\r')),R,R,S, **raw)
case('from raw to lines with a line feed', ('type',h('a\nb\n')),('set',b['input'],5,b['local'],CC),R,('type',h('\x7fd\r')),R,R,S, **raw)
case('a small buffer', ('type',h('abcdef\rgh\r')),('read',4),('read',4),('read',1),('read',4),R)
case('a line that is too long', ('type',h('x'*4090)),('type',h('0123456789')),('type',h('\r')),('read',8192),R)
case('IEXTEN off', ('type',h('ab cd\x17\x16\x12\r')),S,R, local=b['local']&~F['IEXTEN'])
case('no control echo', ('type',h('a\x01\t\x7f\x7fb\r')),S,R, local=b['local']&~F['ECHOCTL'])
import random
rng=random.Random(16)
alphabet=[0x7f,0x7f,0x15,0x17,0x12,0x16,0x04,0x03,0x1a,0x0d,0x0d,0x0a,9,9,1,32,ord('a'),ord('Z'),ord('_'),ord('.'),0xc3,0xa4,0xe2,0x82,0xac,0,0x13,0x11,8,27]
for n in range(120):
    i=rng.choice([b['input'],b['input'],0])
    i^=rng.choice([0,0,F['IGNCR'],F['INLCR'],F['ICRNL'],F['IUTF8'],F['IXON'],F['IXANY'],F['IUCLC']])
    o=rng.choice([5,5,0,1]) | rng.choice([0,0,F['OCRNL'],F['ONOCR'],F['ONLRET'],F['TAB3'],F['OLCUC']])
    l=b['local']
    for f in ('ECHO','ECHOE','ECHOK','ECHOCTL','ECHOKE','IEXTEN','ISIG'):
        if rng.random()<.15: l&=~F[f]
    for f in ('ECHONL','ECHOPRT','NOFLSH'):
        if rng.random()<.15: l|=F[f]
    if rng.random()<.2: l&=~F['ICANON']
    steps=[]
    for _ in range(rng.randint(2,6)):
        steps.append(('type',h([rng.choice(alphabet) for _ in range(rng.randint(1,14))])))
        if rng.random()<.3: steps.append(('print',h([rng.choice([10,13,9,8,65,97,0xc3,0xa4,1]) for _ in range(rng.randint(1,8))])))
        steps.append(S)
        if rng.random()<.4: steps.append(('read',rng.choice([2,100])))
    steps+= [R,R,R]
    case(f'random {n}', *steps, input=i, output=o, local=l)
recorded=[run(c) for c in cases]
stable=[]
for c in recorded:
    again=run({**c,'steps':[s[:2] if s[0] in('type','read') else (s[:2] if s[0]=='print' else (s if s[0]=='set' else ['show'])) for s in c['steps']]})
    if again==c: stable.append(c)
with open(sys.argv[1],'w') as f:
    f.write('[\n'+',\n'.join(json.dumps(c) for c in stable)+'\n]\n')
