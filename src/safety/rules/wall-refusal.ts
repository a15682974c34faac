import type { WallLimits } from '../wall/wall.ts'
import { existsSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import { isWithin } from '../../base/files/real-path.ts'
import { isInScope } from '../../core/data/path-scope.ts'
import { rootsOf } from '../path-location.ts'

/** The limits with which a command ran, and its folder. */
export type WalledCommand = Pick<WallLimits, 'root' | 'added' | 'project' | 'network' | 'sockets'> & {
  cwd: string
  /** The files and folders of the project that the command may write, if it may not write all of them. */
  scope?: readonly string[] | undefined
  /** Whether a path exists behind the wall. */
  sees(path: string): boolean
}

/**
 * Says which access the wall refused a command, as a sentence without its full stop; `hidden`: a path that exists outside and was hidden.
 */
type WallRefusal = { words: string; hidden?: string }

/** Finds in the output of a failed command which access the wall refused. */
export function refusalIn(output: string, ran: WalledCommand): WallRefusal | undefined {
  const lines = output.split('\n').slice(-mostLines)
  for (const line of lines) {
    const found = writing(line, ran) ?? finding(line, ran) ?? reaching(line, ran) ?? keys(line)
    if (found !== undefined) return typeof found === 'string' ? { words: found } : found
  }
  return undefined
}

/** An error is usually near the end of an output. */
const mostLines = 200

/*
 * Messages that each pattern was made for:
 *   touch: cannot touch 'a': Read-only file system
 *   bash: line 1: in.txt: Read-only file system
 *   fatal: Unable to create '/project/.git/index.lock': Read-only file system
 *   error: could not lock config file .git/config: Read-only file system
 *   Error: EROFS: read-only file system, open '/project/a'
 *   OSError: [Errno 30] Read-only file system: 'a'
 *   mkdir: cannot create directory ‘/opt/x’: Permission denied
 */
const readOnly = /read-only file system|\bEROFS\b/i
const denied = /permission denied|operation not permitted|\bEACCES\b|\bEPERM\b/i

function writing(line: string, { root, added, project, cwd, scope }: WalledCommand): string | undefined {
  const path = pathIn(line)
  const real = path === undefined ? undefined : resolve(cwd, path)
  const around = real === undefined ? undefined : rootsOf({ root, added }).find((folder) => isWithin(folder, real))
  if (readOnly.test(line))
    return `The sandbox refused to write ${path ?? 'a file'}: ${whyReadOnly(real, around, { project, scope })}`
  if (!denied.test(line) || real === undefined || around !== undefined) return undefined
  // A name without a folder may be any text that the program prints.
  return isAbsolute(path!) || path!.startsWith('../')
    ? `The sandbox refused to open ${path}: commands may write only in the project, and must not read places where keys are kept`
    : undefined
}

function whyReadOnly(
  path: string | undefined,
  root: string | undefined,
  { project, scope }: Pick<WalledCommand, 'project' | 'scope'>,
): string {
  if (scope) return whyOutOfScope(path === undefined || root === undefined ? undefined : relative(root, path), scope)
  if (path === undefined || root === undefined) return 'commands may write only in the project'
  if (project === 'read') return 'on the leash read, commands may write nothing'
  const [first = ''] = relative(root, path).split('/')
  if (first === '.git')
    return 'commands must not change git’s settings and hooks, and only git commands may change the rest of its folder'
  return 'commands must not change the settings of agents and editors'
}

/**
 * A file of the scope is written in place. A sandbox can open neither a file that is not there yet nor the folder around a file, in which
 * programs such as `sed -i` make a new file to replace it with:
 *   sed: couldn't open temporary file ./sedXk2: Read-only file system
 */
function whyOutOfScope(path: string | undefined, scope: readonly string[]): string {
  const named = scope.join(', ')
  const tools = 'change them with file_editor, and make new ones with file_creator'
  return path !== undefined && isInScope(path, scope)
    ? `commands can neither make nor replace files of your scope (${named}): ${tools}`
    : `commands may write only the files of your scope that are there (${named}), and in place: ${tools}`
}

/*
 *   cat: /srv/data/a: No such file or directory
 *   Error: ENOENT: no such file or directory, open '/srv/data/a'
 *   sh: 1: cannot create /srv/data/a: Directory nonexistent
 */
const missing = /no such file or directory|directory nonexistent|\bENOENT\b/i

/** A file that exists outside, or whose folder does, is missing inside because the wall does not show it. */
function finding(line: string, { cwd, sees }: WalledCommand): WallRefusal | undefined {
  const path = missing.test(line) ? pathIn(line) : undefined
  if (path === undefined || !(isAbsolute(path) || path.startsWith('../'))) return undefined
  const real = resolve(cwd, path)
  const isThere = existsSync(real)
  if (sees(real) || !(isThere || existsSync(dirname(real)))) return undefined
  const words = `The sandbox does not show ${path}: commands see the project, the system and toolchains, and what "sandbox.show" in the person’s settings names`
  return isThere ? { words, hidden: real } : { words }
}

/** The path that an error names: in quotes, or before or after the message. */
function pathIn(line: string): string | undefined {
  const quoted = /['"‘“`]([^'"’”`]+)['"’”`]/.exec(line)?.[1]
  if (quoted !== undefined) return quoted
  const before =
    /(?:^|[\s:])([^\s:]+): (?:read-only file system|permission denied|operation not permitted|no such file or directory|directory nonexistent)/i.exec(
      line,
    )?.[1]
  return before
}

/*
 *   getaddrinfo EAI_AGAIN registry.npmjs.org
 *   curl: (6) Could not resolve host: example.com
 *   connect ECONNREFUSED 127.0.0.1:5432
 *   OSError: [Errno 1] Operation not permitted (for a socket)
 */
const noNetwork =
  /could not resolve|couldn't resolve|name or service not known|temporary failure in name resolution|network is unreachable|getaddrinfo|EAI_AGAIN|ENETUNREACH|ENOTFOUND|no address associated|failed to lookup address|dial tcp: lookup/i
const noServer = /ECONNREFUSED|connection refused|could not connect to server|can't connect to .*server/i
const noSocket = /\bsocket\b/i

function reaching(line: string, { network, sockets }: WalledCommand): string | undefined {
  if (!network && noNetwork.test(line)) return 'The command had no network, because no rule allows it one'
  if (!network && noServer.test(line))
    return 'The command has a network of its own: it reaches servers that this turn started, but no other server on this machine'
  if (!sockets && noSocket.test(line) && denied.test(line))
    return 'The sandbox refused a socket: on the leash read, commands may open none'
  return undefined
}

/*
 *   error: gpg failed to sign the data
 *   git@github.com: Permission denied (publickey).
 *   Host key verification failed.
 *   Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?
 *   npm error code ENEEDAUTH
 */
const keyMessages =
  /gpg failed to sign|no secret key|permission denied \(publickey|host key verification failed|could not open a connection to your authentication agent|could not read (?:username|password) for|\bENEEDAUTH\b/i
const serviceMessages = /cannot connect to the docker daemon|failed to connect to bus|error connecting to \S*tmux/i

function keys(line: string): string | undefined {
  if (keyMessages.test(line)) return 'The sandbox hides your keys, and the command needs one'
  if (serviceMessages.test(line)) return 'The sandbox hides the services of this machine, and the command needs one'
  return undefined
}
