import { test } from 'node:test'
import assert from 'node:assert/strict'
import { systemCallFilter } from '../../src/safety/wall/system-call-filter.ts'

type Call = { arch: number; call: number; args?: number[] }

/** Runs a filter as the kernel does. The high halves of the arguments are filled, because no call looks at them. */
function verdict(filter: Uint8Array, { arch, call, args = [] }: Call): 'allowed' | number {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(call, 0)
  data.writeUInt32LE(arch, 4)
  args.forEach((value, index) => {
    data.writeUInt32LE(value, 16 + 8 * index)
    data.writeUInt32LE(0xdead_beef, 20 + 8 * index)
  })
  const program = Buffer.from(filter)
  let loaded = 0
  for (let at = 0; ; at++) {
    const [code, yes, no] = [program.readUInt16LE(at * 8), program[at * 8 + 2]!, program[at * 8 + 3]!]
    const value = program.readUInt32LE(at * 8 + 4)
    if (code === 0x20) loaded = data.readUInt32LE(value)
    else if (code === 0x54) loaded = (loaded & value) >>> 0
    else if (code === 0x15) at += loaded === value ? yes : no
    else if (code === 0x35) at += loaded >= value ? yes : no
    else if (code === 0x45) at += (loaded & value) !== 0 ? yes : no
    else if (code === 0x06) return value === 0x7fff_0000 ? 'allowed' : value & 0xffff
    else assert.fail(`instruction ${code.toString(16)}`)
  }
}

const EPERM = 1
const ENOSYS = 38
const EOPNOTSUPP = 95
/** Calls with the position of the mode, or of the flags before it. */
const filesX64 = {
  modes: [
    [90, 1],
    [91, 1],
    [268, 2],
    [452, 2],
    [85, 1],
    [133, 1],
    [259, 2],
  ],
  opens: [
    [2, 1],
    [257, 2],
  ],
  attributes: [188, 189, 190, 463],
} as const
const filesArm64 = {
  modes: [
    [52, 1],
    [53, 2],
    [452, 2],
    [33, 2],
  ],
  opens: [[56, 2]],
  attributes: [5, 6, 7, 463],
} as const
const architectures = {
  x64: {
    arch: 0xc000_003e,
    socket: 41,
    socketpair: 53,
    ioctl: 16,
    unshare: 272,
    clone: 56,
    keyctl: 250,
    read: 0,
    ...filesX64,
  },
  arm64: {
    arch: 0xc000_00b7,
    socket: 198,
    socketpair: 199,
    ioctl: 29,
    unshare: 97,
    clone: 220,
    keyctl: 219,
    read: 63,
    ...filesArm64,
  },
} as const

for (const [name, calls] of Object.entries(architectures))
  test(`the filter for ${name} lets through the calls that it names, and refuses the rest`, () => {
    const say = (limits: { sockets: boolean; nested: boolean }) => {
      const filter = systemCallFilter(limits, name as keyof typeof architectures)!
      const of = (call: number, ...args: number[]) => verdict(filter, { arch: calls.arch, call, args })
      const families = Array.from({ length: 64 }, (_, family) => family)
      const types = Array.from({ length: 16 }, (_, type) => type)
      return {
        families: families.filter((family) => of(calls.socket, family, 1) === 'allowed'),
        pairs: types.filter((type) => of(calls.socketpair, 1, type | 0o2004000) === 'allowed').slice(0, 3),
        ioUring: [425, 426, 427].map((call) => of(call)),
        clone3: of(435),
        fork: of(calls.clone, 0x0120_0011),
        threads: of(calls.clone, 0x003d_0f00),
        userNamespace: [of(calls.unshare, 0x1000_0000), of(calls.clone, 0x1002_0011)],
        groupNamespace: [of(calls.unshare, 0x0200_0000), of(calls.clone, 0x1200_0011)],
        typing: [of(calls.ioctl, 0, 0x5412), of(calls.ioctl, 0, 0x541c), of(calls.ioctl, 0, 0x5413)],
        keyctl: of(calls.keyctl),
        read: of(calls.read, 1),
        modes: calls.modes.map(([call, at]) => [0o755, 0o4755].map((mode) => of(call, ...Array(at).fill(7), mode))),
        opens: calls.opens.map(([call, at]) =>
          [0o0, 0o100, 0o20200000].map((flags) => of(call, ...Array(at).fill(7), flags, 0o4755)),
        ),
        opened: calls.opens.map(([call, at]) => of(call, ...Array(at).fill(7), 0o101, 0o644)),
        openat2: of(437),
        capabilities: calls.attributes.map((call) => of(call)),
      }
    }
    const [never, nothing] = [EPERM, 'allowed'] as const
    const same = {
      ioUring: [never, never, never],
      clone3: ENOSYS,
      ...{ fork: nothing, threads: nothing, read: nothing, keyctl: never },
      groupNamespace: [never, never],
      typing: [never, never, nothing],
      modes: calls.modes.map(() => [nothing, never]),
      opens: calls.opens.map(() => [nothing, never, never]),
      opened: calls.opens.map(() => nothing),
      openat2: ENOSYS,
    }
    assert.deepEqual(say({ sockets: false, nested: false }), {
      ...{ ...same, families: [2, 10, 16], pairs: [1, 5], userNamespace: [never, never] },
      capabilities: calls.attributes.map(() => nothing),
    })
    assert.deepEqual(say({ sockets: true, nested: true }), {
      ...{ ...same, families: [1, 2, 10, 16], pairs: [0, 1, 2], userNamespace: [nothing, nothing] },
      capabilities: calls.attributes.map(() => EOPNOTSUPP),
    })
  })

test('another architecture, and the second way of calling on x86_64, are refused whole', () => {
  const filter = systemCallFilter({ sockets: true, nested: true }, 'x64')!
  const i386 = 0x4000_0003
  assert.deepEqual(
    [
      verdict(filter, { arch: i386, call: 3 }),
      verdict(filter, { arch: architectures.arm64.arch, call: 0 }),
      verdict(filter, { arch: architectures.x64.arch, call: 0x4000_0000 }),
      verdict(filter, { arch: architectures.x64.arch, call: 0xffff_ffff }),
      systemCallFilter({ sockets: true, nested: true }, 'riscv64'),
    ],
    [EPERM, EPERM, EPERM, EPERM, undefined],
  )
})
