import type { PermissionOption, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { Meaning, Option, Shown } from '../../core/talk/question.ts'
import type { Call } from './acp-calls.ts'
import type { Rules } from './acp-rules.ts'
import { defined } from '../../base/defined.ts'
import { commandOf, diffsOf, inputOf, toolOf } from './acp-calls.ts'
import { isWithin } from '../../base/files/real-path.ts'
import { realPathInside, isInGitFolder } from './acp-rules.ts'
import { translatedOptions } from '../../core/talk/consent.ts'

type Permit = { response: RequestPermissionResponse; allowed: boolean }

/** Answers an agent that asks before it acts: the leash decides if it can, otherwise the person. */
export async function answerPermission(
  { options }: RequestPermissionRequest,
  call: Call,
  rules: Rules,
  signal: AbortSignal,
): Promise<Permit> {
  const once = optionOf(options, 'allow_once', 'allow_always')
  const no = optionOf(options, 'reject_once', 'reject_always')
  const what = wordsOf(call, rules.cwd)
  const plan = rules.planned && planOf(call)
  if (plan !== undefined) {
    // The person decides about the plan after the turn.
    rules.planned!(plan)
    return answer(no)
  }
  // The tools that we provide for the turn follow its leash themselves.
  if (once && isLent(call, rules)) return answer(once)
  if (rules.leash === 'read') {
    rules.deny(what)
    return answer(no)
  }
  // If no option means yes, the options are a choice rather than a permission, and the person chooses.
  if (once && (await isFree(call, rules))) {
    await remember(call, once, rules)
    return answer(once)
  }
  const withdrawn = AbortSignal.any([rules.over, signal])
  const question = {
    about: 'permission' as const,
    text: call.title ?? what,
    from: [],
    shows: shownOf(call, rules.cwd),
    options: cardOptions(options, call, rules),
  }
  const picks = await rules.ask(question, withdrawn)
  if (withdrawn.aborted) return answer(undefined)
  if (!picks) rules.deny(what)
  const picked = options.find(({ optionId }) => picks?.includes(optionId)) ?? no
  if (picked) await remember(call, picked, rules)
  return answer(picked?.kind === 'allow_always' && rules.keepsAlways ? once : picked)
}

/** The plan in a call that asks to leave the plan mode. */
function planOf({ kind, rawInput, content = [] }: Call): string | undefined {
  const { plan } = (rawInput ?? {}) as { plan?: unknown }
  const shown = (content ?? []).flatMap((one) =>
    kind === 'switch_mode' && one.type === 'content' && one.content.type === 'text' ? [one.content.text] : [],
  )
  const text = typeof plan === 'string' ? plan : shown.join('\n')
  return text.trim() === '' ? undefined : text.trim()
}

const meanings: Readonly<Partial<Record<PermissionOption['kind'], Meaning>>> = {
  allow_once: 'once',
  allow_always: 'always',
  reject_once: 'no',
}

/** The agent's options, with the same keys as on every card; for an "always" that we remember, the label says for how long. */
function cardOptions(options: readonly PermissionOption[], call: Call, rules: Rules): Option[] {
  const kinds = new Map<Option, PermissionOption['kind']>()
  const shown = narrowestFirst(options).map((option) => {
    const always = option.kind === 'allow_always'
    const label = always && rules.keepsAlways ? 'Yes, until the turn ends' : option.name
    const grants = always ? grantsOf(option, call, rules) : undefined
    const one: Option = defined({ id: option.optionId, label, grants })
    kinds.set(one, option.kind)
    return one
  })
  return translatedOptions(shown, (option) => meanings[kinds.get(option)!])
}

/**
 * Whether a call uses a tool that we provide. The titles of commands and file changes are excluded, because the model may have written
 * them.
 */
function isLent(call: Call, { lent }: Rules): boolean {
  const bare = commandOf(call) === undefined && !isEdit(call) && call.kind !== 'execute'
  const touches = [...(call.content ?? []).filter(({ type }) => type === 'diff'), ...(call.locations ?? [])]
  return bare && touches.length === 0 && lent !== undefined && lent.title.exec(call.title ?? '')?.[1] === lent.server
}

/** Whether the call needs no permission: the leash allows it, or the person allowed it for the rest of the turn. */
async function isFree(call: Call, rules: Rules): Promise<boolean> {
  const { leash, allowed } = rules
  if (leash === 'all') return true
  const command = commandOf(call)
  if (command !== undefined) return allowed.hasCommandAlways(command)
  // The person gave access to the added folders, but some agents ask before they read there anyway.
  if (call.kind === 'read') return areOwnFiles(call, rules.added)
  return (leash === 'edit' || (rules.keepsAlways && allowed.hasEdits)) && isPlainEdit(call, rules)
}

/** How far an "always" reaches: known if we remember it, otherwise up to the agent. */
function grantsOf({ name }: PermissionOption, call: Call, rules: Rules): string {
  if (!rules.keepsAlways) return `“${name}” as ${rules.name} understands it, at least until the turn ends`
  if (commandOf(call) !== undefined) return 'this command, until the turn ends'
  return isEdit(call) ? 'every edit in the project, until the turn ends' : 'this call alone'
}

function answer(option: PermissionOption | undefined): Permit {
  if (!option) return { response: { outcome: { outcome: 'cancelled' } }, allowed: false }
  return { response: { outcome: { outcome: 'selected', optionId: option.optionId } }, allowed: isYes(option) }
}

const isYes = ({ kind }: PermissionOption) => kind === 'allow_once' || kind === 'allow_always'

const byReach: readonly PermissionOption['kind'][] = ['allow_once', 'allow_always', 'reject_once', 'reject_always']

/** Sorts the narrowest yes to the front: Enter picks the first option. */
function narrowestFirst(options: readonly PermissionOption[]): PermissionOption[] {
  return options.toSorted((a, b) => byReach.indexOf(a.kind) - byReach.indexOf(b.kind))
}

/** The first option of the first kind in the list that is offered. */
function optionOf(options: readonly PermissionOption[], ...kinds: PermissionOption['kind'][]) {
  return kinds.flatMap((kind) => options.filter((option) => option.kind === kind))[0]
}

/** Remembers a yes, so that no second question follows if the agent asks us to perform the same action, or after an "always". */
async function remember(call: Call, option: PermissionOption, rules: Rules): Promise<void> {
  const { allowed } = rules
  if (!isYes(option)) return
  for (const one of call.content ?? []) {
    const real = one.type === 'diff' ? await realPathInside([rules.root, ...rules.added], one.path) : undefined
    if (one.type === 'diff' && real !== undefined) allowed.write(real, one.newText)
  }
  const always = option.kind === 'allow_always'
  const command = commandOf(call)
  if (command !== undefined) allowed.command(command, always)
  else if (always && isEdit(call)) allowed.edits()
}

const isEdit = ({ kind }: Call) => kind === 'edit' || kind === 'delete' || kind === 'move'

/** Whether a call changes files of the project and nothing else. */
const isPlainEdit = async (call: Call, rules: Rules) =>
  isEdit(call) && (await areOwnFiles(call, [rules.root, ...rules.added]))

/** Whether all files that a call names are in these folders, and none of them belongs to git. */
async function areOwnFiles(call: Call, folders: readonly string[]): Promise<boolean> {
  const paths = [
    ...(call.content ?? []).flatMap((one) => (one.type === 'diff' ? [one.path] : [])),
    ...(call.locations ?? []).map(({ path }) => path),
  ]
  const reals = await Promise.all(paths.map((path) => realPathInside(folders, path)))
  const isPlain = (real: string) => folders.some((folder) => isWithin(folder, real) && !isInGitFolder(folder, real))
  return reals.length > 0 && reals.every((real) => real !== undefined && isPlain(real))
}

function shownOf(call: Call, cwd: string): Shown[] {
  const diffs = diffsOf(call.content, cwd).map((change): Shown => ({ type: 'diff', ...change }))
  const command = commandOf(call)
  if (command !== undefined) return [{ type: 'command', command, cwd }, ...diffs]
  if (diffs.length > 0) return diffs
  const texts = (call.content ?? []).flatMap((one) =>
    one.type === 'content' && one.content.type === 'text' ? [one.content.text] : [],
  )
  return [{ type: 'text', text: texts.join('\n') || JSON.stringify(inputOf(call, cwd), undefined, 2) }]
}

/** A call as text, short enough for a list of denials. */
function wordsOf(call: Call, cwd: string): string {
  const [change] = diffsOf(call.content, cwd)
  const text = commandOf(call) ?? change?.path ?? call.title ?? ''
  return `${toolOf(call)}: ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`
}
