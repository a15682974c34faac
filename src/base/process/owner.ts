import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { childProcesses } from './node-processes.ts'

let mark: string | undefined

/**
 * Returns a mark that identifies this process permanently: its machine, the boot, its pid, and its start time, because pids are reused.
 */
export function ownerMark(): string {
  mark ??= [place(), boot(), process.pid, processStart(process.pid) ?? ''].join(',')
  return mark
}

/**
 * Says whether the process of a mark still runs. A process that cannot be seen counts as alive: it is on another machine or in
 * another container, or the system cannot tell right now.
 */
export function isAlive(owner: string): boolean {
  if (!isHere(owner)) return true
  const [, since, pid, start] = owner.split(',')
  if (since !== boot()) return false
  const found = processStart(Number(pid))
  // A process that could not find out its own start time is only identified by its pid.
  return found === unseen || (found !== undefined && (start === '' || start === found))
}

/** Says whether the process of a mark was stopped (Ctrl+Z, SIGSTOP): it lives, and does nothing until it is continued. */
export function isStopped(owner: string): boolean {
  return isHere(owner) && isAlive(owner) && isStoppedProcess(ownerPid(owner))
}

export function isStoppedProcess(pid: number): boolean {
  return /^[Tt]/.test(processFields(pid, process.platform)?.[0] ?? '')
}

/** Says whether the process of a mark can be seen from here; elsewhere its pid belongs to another process. */
export function isHere(owner: string): boolean {
  return owner.split(',')[0] === place()
}

export function ownerPid(owner: string): number {
  return Number(owner.split(',')[2])
}

/** The start time of a living process if the system does not report it. */
const unseen = ''

/**
 * Returns the start time of a process in the system's form: undefined if the process is gone or a zombie, and empty if the system does
 * not report it, because too many files are open or there is no /proc.
 */
export function processStart(pid: number, platform: string = process.platform): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  const fields = processFields(pid, platform)
  if (!fields) return isThere(pid) ? unseen : undefined
  const [state, start] = fields
  return state === '' || /^[ZX]/.test(state) ? undefined : start
}

/** The state and the start time of a process; undefined if the system does not report them. */
function processFields(pid: number, platform: string): [state: string, start: string] | undefined {
  if (platform === 'linux') {
    try {
      // The process name may contain spaces and brackets, so fields are counted after its last bracket.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(')').at(-1)!.trim().split(' ')
      return [fields[0]!, fields[19]!]
    } catch {
      return undefined
    }
  }
  const { stdout, error } = childProcesses().spawnSync('/bin/ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' },
  })
  return error ? undefined : parsePsFields(stdout)
}

/** Parses the line of `ps -o stat=,lstart=`; both are empty for a process that is gone. */
export function parsePsFields(line: string): [state: string, start: string] {
  const [state = '', ...start] = line.trim().split(/\s+/)
  return [state, start.join(' ')]
}

/** Asks the system for a process by its pid alone, which needs no file. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const isMac = process.platform === 'darwin'
let here: string | undefined

/** Identifies the machine and, on Linux, the pid namespace: a pid means nothing in another container. */
function place(): string {
  if (here === undefined) {
    // A Mac's name changes with its network.
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
  return (childProcesses().spawnSync('/usr/sbin/sysctl', ['-n', name], { encoding: 'utf8' }).stdout ?? '').trim()
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
