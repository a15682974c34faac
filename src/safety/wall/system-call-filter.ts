/** The system calls that the filter allows in addition to the ordinary ones. */
type SystemCallLimits = {
  /** Whether unix sockets may be opened. */
  sockets: boolean
  /** Whether user namespaces may be created, which a program's own sandbox needs. */
  nested: boolean
}

/** The numbers of the system calls that the filter checks, and the kernel's name for the architecture. */
type Calls = {
  arch: number
  /** On x86_64 the numbers from here on belong to the x32 ABI, which would bypass every other rule. */
  foreign?: number
  socket: number
  socketpair: number
  ioctl: number
  unshare: number
  clone: number
  addKey: number
  requestKey: number
  keyctl: number
  /** Calls that give a file its mode, with the position of the mode among the arguments. */
  modes: readonly (readonly [call: number, mode: number])[]
  /** Calls that open a file and may create it, with the positions of the flags and the mode. */
  opens: readonly (readonly [call: number, flags: number, mode: number])[]
  /** Calls that write an attribute of a file; one attribute gives the file capabilities. */
  attributes: readonly number[]
}

const architectures: Partial<Record<NodeJS.Architecture, Calls>> = {
  x64: {
    ...{ arch: 0xc000_003e, foreign: 0x4000_0000 },
    ...{ socket: 41, socketpair: 53, ioctl: 16, unshare: 272, clone: 56 },
    ...{ addKey: 248, requestKey: 249, keyctl: 250 },
    // chmod, fchmod, fchmodat, creat, mknod, mknodat
    modes: [...[90, 91, 85, 133].map((call) => [call, 1] as const), [268, 2], [259, 2]],
    opens: [
      [2, 1, 2],
      [257, 2, 3],
    ],
    attributes: [188, 189, 190],
  },
  arm64: {
    arch: 0xc000_00b7,
    ...{ socket: 198, socketpair: 199, ioctl: 29, unshare: 97, clone: 220 },
    ...{ addKey: 217, requestKey: 218, keyctl: 219 },
    // fchmod, fchmodat, mknodat
    modes: [
      [52, 1],
      [53, 2],
      [33, 2],
    ],
    opens: [[56, 2, 3]],
    attributes: [5, 6, 7],
  },
}

/** Calls with the same number on every architecture. io_uring opens sockets without the call `socket`. */
const ioUring = [425, 426, 427]
const clone3 = 435
const openat2 = 437
const fchmodat2 = 452
const setxattrat = 463

/** The bit of a mode by which a program runs as the file's owner, and the flags with which a file may be made by opening it. */
const setUserId = 0o4000
const makesFile = 0o100 | 0o20000000

const family = { unix: 1, inet: 2, inet6: 10, netlink: 16 }
const socketType = { stream: 1, seqpacket: 5, mask: 0xf }
const newNamespace = { cgroup: 0x0200_0000, user: 0x1000_0000 }
/** Both put characters into the terminal's input, as if the person had typed them. */
const terminalInput = { TIOCSTI: 0x5412, TIOCLINUX: 0x541c }

const allow = 0x7fff_0000
const refuse = (errno: number) => 0x0005_0000 | errno
const [notPermitted, notImplemented, notSupported] = [refuse(1), refuse(38), refuse(95)]

/** Offsets in the kernel's `seccomp_data`; only the low half of an argument counts, as in the calls themselves. */
const at = { call: 0, arch: 4, argument: (index: number) => 16 + 8 * index }

/**
 * A seccomp filter as bytes for bubblewrap's `--seccomp`: it allows sockets of the internet and of netlink, unix sockets only by
 * permission, and forbids io_uring, keyrings, typing into the terminal and files that run as their owner. Undefined if the system calls
 * are not known.
 */
export function systemCallFilter(
  { sockets, nested }: SystemCallLimits,
  architecture: NodeJS.Architecture = process.arch,
): Uint8Array | undefined {
  const calls = architectures[architecture]
  if (!calls) return undefined
  const families = [family.inet, family.inet6, family.netlink, ...(sockets ? [family.unix] : [])]
  return bytesOf([
    load(at.arch),
    ...unless(calls.arch, [give(notPermitted)]),
    load(at.call),
    ...(calls.foreign === undefined ? [] : [jump(isAtLeast, calls.foreign, 0, 1), give(notPermitted)]),
    ...[...ioUring, calls.addKey, calls.requestKey, calls.keyctl].flatMap((call) => when(call, [give(notPermitted)])),
    ...when(calls.socket, [
      load(at.argument(0)),
      ...families.flatMap((one) => when(one, [give(allow)])),
      give(notPermitted),
    ]),
    ...(sockets ? [] : when(calls.socketpair, pairsOnly())),
    ...when(calls.ioctl, [
      load(at.argument(1)),
      ...Object.values(terminalInput).flatMap((request) => when(request, [give(notPermitted)])),
      give(allow),
    ]),
    ...namespaces(calls, nested),
    ...fileModes(calls),
    // In its own namespace a program could give a file capabilities, which count outside if termaite runs as root.
    ...(nested ? [...calls.attributes, setxattrat].flatMap((call) => when(call, [give(notSupported)])) : []),
    give(allow),
  ])
}

/** A pair of datagram sockets is refused, because either of them could later be connected to a socket of the host. */
const pairsOnly = (): Instruction[] => [
  load(at.argument(1)),
  and(socketType.mask),
  ...[socketType.stream, socketType.seqpacket].flatMap((type) => when(type, [give(allow)])),
  give(notPermitted),
]

/**
 * Refuses namespaces of control groups to everybody: root could mount the groups there, and stop every program outside. The flags of
 * clone3 are in memory, which no filter can read, so clone3 is reported as missing; programs then use clone.
 */
function namespaces({ unshare, clone }: Calls, nested: boolean): Instruction[] {
  const refused = nested ? newNamespace.cgroup : newNamespace.cgroup | newNamespace.user
  return [
    ...when(clone3, [give(notImplemented)]),
    ...[unshare, clone].flatMap((call) =>
      when(call, [load(at.argument(0)), jump(hasBits, refused, 0, 1), give(notPermitted), give(allow)]),
    ),
  ]
}

/**
 * Refuses to create a file that runs as its owner: in a project, it would let everybody on this machine act as the person. The mode of
 * openat2 is in memory, which no filter can read, so openat2 is reported as missing; programs then use openat.
 */
function fileModes({ modes, opens }: Calls): Instruction[] {
  const refused = (mode: number) => [
    load(at.argument(mode)),
    jump(hasBits, setUserId, 0, 1),
    give(notPermitted),
    give(allow),
  ]
  return [
    ...when(openat2, [give(notImplemented)]),
    ...[...modes, [fchmodat2, 2] as const].flatMap(([call, mode]) => when(call, refused(mode))),
    ...opens.flatMap(([call, flags, mode]) =>
      when(call, [load(at.argument(flags)), jump(hasBits, makesFile, 1, 0), give(allow), ...refused(mode)]),
    ),
  ]
}

/** One instruction of the kernel's classic packet filter. */
type Instruction = { code: number; yes: number; no: number; value: number }

const [isEqual, isAtLeast, hasBits] = [0x15, 0x35, 0x45] as const

function jump(code: number, value: number, yes: number, no: number): Instruction {
  return { code, yes, no, value }
}

function load(offset: number): Instruction {
  return { code: 0x20, yes: 0, no: 0, value: offset }
}

function and(bits: number): Instruction {
  return { code: 0x54, yes: 0, no: 0, value: bits }
}

function give(verdict: number): Instruction {
  return { code: 0x06, yes: 0, no: 0, value: verdict }
}

/** Runs the instructions if the loaded value is this one; they end with a verdict. */
function when(value: number, then: readonly Instruction[]): Instruction[] {
  return [jump(isEqual, value, 0, then.length), ...then]
}

function unless(value: number, then: readonly Instruction[]): Instruction[] {
  return [jump(isEqual, value, then.length, 0), ...then]
}

function bytesOf(program: readonly Instruction[]): Uint8Array {
  const bytes = Buffer.alloc(program.length * 8)
  program.forEach(({ code, yes, no, value }, index) => {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(yes, index * 8 + 2)
    bytes.writeUInt8(no, index * 8 + 3)
    bytes.writeUInt32LE(value, index * 8 + 4)
  })
  return bytes
}
