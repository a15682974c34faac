import { spawnSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

let mark: string | undefined

/** Returns a mark that names this process for good: its machine, the boot, its pid, and its start time, because pids are reused. */
export function ownerMark(): string {
  mark ??= [place(), boot(), process.pid, processStart(process.pid) ?? ''].join(',')
  return mark
}

/** Says whether the process of a mark still runs. A process on another machine or in another container counts as alive. */
export function isAlive(owner: string): boolean {
  if (!isHere(owner)) return true
  const [, since, pid, start] = owner.split(',')
  return since === boot() && start !== '' && start === processStart(Number(pid))
}

/** Says whether the process of a mark can be seen from here; elsewhere its pid belongs to another process. */
export function isHere(owner: string): boolean {
  return owner.split(',')[0] === place()
}

export function ownerPid(owner: string): number {
  return Number(owner.split(',')[2])
}

/** Returns the start time of a process as the system writes it; undefined when it is gone or a zombie. */
export function processStart(pid: number, platform: string = process.platform): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  if (platform === 'linux') {
    // The process name may hold spaces and brackets, so fields are counted after its last bracket.
    const fields = readOr('', `/proc/${pid}/stat`).split(')').at(-1)!.trim().split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  }
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' },
  })
  const [state = '', ...start] = (stdout ?? '').trim().split(/\s+/)
  return state === '' || state.startsWith('Z') ? undefined : start.join(' ')
}

const isMac = process.platform === 'darwin'
let here: string | undefined

/** Names the machine and, on Linux, the pid namespace: a pid means nothing in another container. */
function place(): string {
  if (here === undefined) {
    // A Mac's name changes with the network it is in.
    const machine = readOr('', '/etc/machine-id').trim() || (isMac && sysctl('kern.uuid')) || hostname()
    const processes = linkOr('', '/proc/self/ns/pid').replaceAll(/\D/g, '')
    here = encodeURIComponent([machine, processes].filter((part) => part !== '').join('.'))
  }
  return here
}

let bootId: string | undefined

function boot(): string {
  if (bootId === undefined) {
    const id = readOr('', '/proc/sys/kernel/random/boot_id').trim()
    bootId = id || (isMac ? sysctl('kern.bootsessionuuid') : '')
  }
  return bootId
}

function sysctl(name: string): string {
  return (spawnSync('/usr/sbin/sysctl', ['-n', name], { encoding: 'utf8' }).stdout ?? '').trim()
}

function readOr(otherwise: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}

function linkOr(otherwise: string, path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return otherwise
  }
}
