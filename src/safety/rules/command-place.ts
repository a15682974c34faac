import type { Leash } from '../../core/work/agent.ts'
import type { ProjectBounds } from '../path-location.ts'
import type { Part, ShellClass } from '../shell/shell-judgement.ts'
import type { WallLimits } from '../wall/wall.ts'
import type { JudgedCall } from './judged-call.ts'
import type { PlainReader } from './plain-readers.ts'
import { basename, resolve } from 'node:path'
import { isWithin } from '../../base/files/real-path.ts'
import { rootsOf } from '../path-location.ts'
import { isSecretName } from '../secret-files.ts'
import { gitVerb, gitWords } from '../shell/programs/git-verbs.ts'

/** The facts about the wall around an agent's commands that are known before a command runs. */
export type WallFacts = {
  /** The network is open for every command, for commands that need it and got a permission, or for no command. */
  network: 'open' | 'asked' | 'closed'
  /** The path of the temporary folder; behind the wall, every turn has its own empty folder at this path. */
  temporary?: string
}

/** The commands have no wall, for the reason in `none`. */
export type NoWall = { none: string }

/**
 * The place of a command: behind the wall with these limits; outside for the reason in `outside`; or, without a wall, as a person or a
 * literal rule allowed it (`bare`), or as one of the plain readers, without a shell. `keys`: whether the command sees the project's files
 * with keys, or sees them by the person's decision for the whole project.
 */
export type CommandPlace =
  | { outside: string }
  | { inside: Pick<WallLimits, 'project' | 'git' | 'sockets' | 'network'>; keys: 'hidden' | 'shown' | 'decided' }
  | { bare: true }
  | { reader: PlainReader }

/** A judged call, and the place of its command if the call may run. */
export type PlacedCall = JudgedCall & { place?: CommandPlace | undefined }

/**
 * The needs of a command that the wall does not meet, as far as termaite can tell. They are text for a question and never a permission.
 */
export type Beyond = {
  /** Why the command would have to run outside the wall. */
  outside?: string
  network?: true
  /** Whether the command names files of the project that hold keys. */
  keys?: true
  /** Whether the command itself shows these needs. If only a file shows them, its content may be different tomorrow. */
  written: boolean
}

/**
 * The rights of a command: those of the leash, only reading (`look`), or also the needs beyond the wall that were allowed for the whole
 * command.
 */
export type Permission = 'leash' | 'look' | Beyond

/**
 * Chooses where a command runs that the policy has allowed. The leash determines what is writable. Everything beyond it (the network, the
 * project's keys, the machine outside) needs the settings or a permission for the whole command: a permission for one part never extends
 * to the other parts.
 */
export function placeOf(leash: Leash, facts: WallFacts, permission: Permission): CommandPlace {
  const network = facts.network === 'open'
  if (leash === 'read' || permission === 'look')
    return { inside: { project: 'read', git: 'read', sockets: false, network }, keys: 'hidden' }
  const inside = { project: 'write', git: 'write', sockets: true, network } as const
  if (permission === 'leash' || facts.network === 'closed') return { inside, keys: 'decided' }
  if (permission.outside !== undefined) return { outside: permission.outside }
  return {
    inside: { ...inside, network: network || permission.network === true },
    keys: permission.keys ? 'shown' : 'decided',
  }
}

/**
 * Finds the needs of a command beyond its wall. If the settings close the network, there are no such needs, because only the wall keeps
 * the network closed.
 */
export function beyondOf(parts: readonly Part[], leash: Leash, bounds: ProjectBounds, facts: WallFacts): Beyond {
  if (leash === 'read' || facts.network === 'closed') return { written: true }
  const all = needsOf(parts, leash, bounds, facts)
  // A link may lead elsewhere tomorrow, so only the paths as they are written count here.
  const asWritten = (part: Part) => ({
    ...part,
    paths: part.paths.map((touched) => ({ ...touched, real: resolve(touched.path) })),
  })
  const own = needsOf(parts.filter(isWritten).map(asWritten), leash, bounds, facts)
  const written = all.outside === own.outside && all.network === own.network && all.keys === own.keys
  return { ...all, written }
}

/** Whether a part is written with all its words in the command itself. */
const isWritten = ({ argv, script }: Part) => argv !== undefined && script === undefined

function needsOf(
  parts: readonly Part[],
  leash: Leash,
  bounds: ProjectBounds,
  facts: WallFacts,
): Omit<Beyond, 'written'> {
  // If a person allows the command to stop a process of the machine, it must run outside, where it can see that process.
  const ends = (part: Part) => (leash === 'ask' && part.class === 'system' ? part.why : undefined)
  const outside = parts.map((part) => outsideReason(part, bounds, facts) ?? ends(part)).find((why) => why !== undefined)
  const network = facts.network === 'asked' && parts.some(needsNetwork)
  const keys = parts.some(({ class: kind, paths }) => kind === 'secrets' && paths.length > 0)
  return { ...(outside !== undefined && { outside }), ...(network && { network }), ...(keys && { keys }) }
}

/** Classes of commands that the wall contains, whatever they turn out to do. */
const heldClasses: Record<'read' | 'edit', ReadonlySet<ShellClass>> = {
  read: new Set(['reads', 'runs', 'unknown', 'dynamic']),
  edit: new Set(['reads', 'edits', 'runs', 'removes', 'unknown', 'dynamic']),
}

/**
 * Whether the wall of a leash contains this part of a command, so that nobody needs to be asked. A wall does not stop a command from
 * reading files outside the project: if that is recognizable beforehand, the part does not count as contained.
 */
export function isHeld(part: Part, leash: 'read' | 'edit', bounds: ProjectBounds, facts: WallFacts): boolean {
  if (facts.network !== 'closed' && hostReason(part) !== undefined) return false
  // Even a command that is not understood may name a file that needs a question.
  const reaches = part.paths.some(({ real }) => !isOwn(real, bounds, facts) || isSecretName(real))
  if (heldClasses[leash].has(part.class)) return !reaches || part.class === 'reads'
  // If the settings close the network, a yes would not open it.
  if (part.class === 'network') return facts.network !== 'asked' || !needsNetwork(part)
  // Behind the wall the environment contains no keys, and the places of keys are empty.
  if (part.class === 'secrets') return part.paths.length === 0
  if (part.class === 'outside') return part.paths.length > 0 && !reaches
  // Files from which programs could start by themselves cannot be changed inside, or are in the quarantine until the person agrees.
  if (part.class === 'settings') return leash === 'edit' && !reaches
  // Processes outside are not visible from inside, so the command cannot stop them.
  if (part.class === 'system') return enders.has(programOf(part))
  return leash === 'edit' && (part.class === 'installing' ? !needsNetwork(part) : isRecoverable(part))
}

const enders: ReadonlySet<string> = new Set(['kill', 'pkill', 'killall'])

/** Whether a part has to reach other machines. A server of the same turn can be reached behind the wall. */
function needsNetwork(part: Part): boolean {
  if (part.class === 'installing') return !/^python[\d.]*$/.test(programOf(part)) || !/ -m venv /.test(part.text)
  if (part.class !== 'network') return false
  // Local addresses are often written without a scheme.
  const named = /\bhttps?:\/\/(\[[^\]]*\]|[^\s/:'"?#]*)|(?<=[\s'"])(localhost|127\.0\.0\.1|\[::1\])(?![^\s/:'"?#])/g
  const hosts = [...part.text.matchAll(named)].map(([, host, own]) => host ?? own!)
  const isOwn = (host: string) => /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(host)
  return !fetchers.has(programOf(part)) || hosts.length === 0 || !hosts.every(isOwn)
}

const fetchers: ReadonlySet<string> = new Set(['curl', 'wget', 'http', 'xh'])

/** Whether everything that git overwrites can be restored: a commit from git's own log, a file from the snapshot before the turn. */
function isRecoverable(part: Part): boolean {
  if (part.class !== 'destructive' || programOf(part) !== 'git') return false
  const { sub, rest } = gitWords(wordsOf(part))
  return sub === 'restore' || (sub === 'commit' && rest.includes('--amend'))
}

/** Whether a path is in the project, is a device, or is in the temporary folder that only exists behind the wall. */
function isOwn(path: string, bounds: ProjectBounds, { temporary }: WallFacts): boolean {
  const own = [...rootsOf(bounds), '/dev', ...(bounds.readable ?? []), ...(temporary === undefined ? [] : [temporary])]
  return own.some((folder) => isWithin(folder, path))
}

/** Why a part that was allowed cannot do its work behind the wall; undefined if it can. */
function outsideReason(part: Part, bounds: ProjectBounds, facts: WallFacts): string | undefined {
  const host = hostReason(part)
  if (host !== undefined) return host
  // The home inside is the wall's own: a file in the person's home can only be read outside.
  const away = part.paths.find(
    ({ real, how }) =>
      !isOwn(real, bounds, facts) && (how !== 'read' || part.class === 'secrets' || isWithin(bounds.home, real)),
  )
  if (away) return `${part.why}: ${away.path}`
  if (part.class === 'system') return enders.has(programOf(part)) ? undefined : part.why
  if (part.class === 'installing') return installsHere(part) || !needsNetwork(part) ? undefined : part.why
  if (part.class === 'destructive') return programOf(part) === 'git' || part.paths.length > 0 ? undefined : part.why
  return undefined
}

const setOf = (names: string) => new Set(names.split(' '))

/** Programs that need the person's keys, which are hidden behind the wall. */
const keyed = setOf(
  'ssh scp sftp gh glab hub aws gcloud az kubectl oc helm doctl heroku vercel netlify fly flyctl wrangler supabase firebase terraform tofu pulumi ansible ansible-playbook rclone s3cmd gsutil gpg gpg2 ssh-add ssh-agent ssh-keygen security pass op vault sops age keyctl secret-tool bw lpass gopass',
)

/** Programs that only communicate with a service of the machine, whose socket is hidden behind the wall. */
const served = setOf('docker docker-compose podman podman-compose nerdctl minikube kind colima limactl')

/** Programs that install packages into the project, unless their arguments name another place. */
const projectInstallers = setOf('npm pnpm yarn bun npx composer bundle poetry uv cargo go mix dotnet')

/** Why a part needs the machine itself: its services or the person's keys. */
function hostReason(part: Part): string | undefined {
  const program = programOf(part)
  if (keyed.has(program)) return `${program} needs your keys, which the sandbox hides`
  if (served.has(program)) return `${program} needs a service of this machine, which the sandbox hides`
  if (program === 'rsync' && part.class === 'network') return 'rsync needs your keys, which the sandbox hides'
  if (program === 'git') return gitReason(part)
  const [, sub = ''] = wordsOf(part)
  if (/^(?:npm|pnpm|yarn|bun|cargo|poetry|gem|twine)$/.test(program) && publishing.has(sub))
    return `${program} ${sub} needs your keys, which the sandbox hides`
  return undefined
}

const publishing = setOf(
  'publish unpublish login logout adduser whoami token access owner dist-tag deprecate yank upload push star team org profile',
)

function gitReason(part: Part): string | undefined {
  const { sub, rest } = gitWords(wordsOf(part))
  const reaches = part.class === 'network' || part.class === 'destructive' || part.class === 'dynamic'
  const { remote, signs } = gitVerb(sub)
  if (remote && reaches) return `git ${sub} needs your keys, which the sandbox hides`
  if (signs && rest.some((word) => /^(?:-S.*|--gpg-sign(?:=.*)?)$/.test(word)))
    return `git ${sub} signs with your key, which the sandbox hides`
  if (sub === 'tag' && rest.some((word) => /^(?:-s|--sign|-u.*|--local-user(?:=.*)?)$/.test(word)))
    return 'git tag signs with your key, which the sandbox hides'
  return undefined
}

const plainFlags =
  /^(?:-[uvqnp46]|--(?:set-upstream|tags|follow-tags|all|prune|dry-run|verbose|quiet|progress|porcelain|no-verify|rebase|no-rebase|ff-only|no-ff|autostash|depth=\d+))$/

/** Whether git communicates with a remote from the project's settings, with flags that cannot name a program to run. */
export function isPlainRemote(argv: readonly string[]): boolean {
  const { sub, rest } = gitWords(argv)
  if (basename(argv[0] ?? '') !== 'git' || !gitVerb(sub).remote) return true
  const [name, ...refs] = rest.filter((word) => !word.startsWith('-'))
  const isNamed = name === undefined || /^[\w.-]+$/.test(name)
  return (
    isNamed &&
    refs.every((ref) => /^[\w.][\w./:^~-]*$/.test(ref)) &&
    rest.every((word) => !word.startsWith('-') || plainFlags.test(word))
  )
}

/** Whether an installation only changes the project. */
function installsHere(part: Part): boolean {
  const words = wordsOf(part)
  if (!projectInstallers.has(programOf(part))) return false
  if (words.some((word) => /^(?:-g|--global|--location=global|global|--system|--user|--root)$/.test(word))) return false
  // `cargo install`, `go install` and `dotnet tool install` put a program into the person's own folder.
  return !(/^(?:cargo|go|dotnet)$/.test(programOf(part)) && words.includes('install'))
}

/** The words of a part; if not all of them are known, the plain text split at its spaces. */
const wordsOf = ({ argv, text }: Part): readonly string[] => argv ?? text.trim().split(/\s+/)

const programOf = (part: Part): string => basename(wordsOf(part)[0] ?? '')
