import type { Belongings, FoundRule, FoundServer, FoundSettings, ServerValue } from '../../core/profile/belongings.ts'
import { join } from 'node:path'
import { isPlainObject } from '../../base/plain-object.ts'
import { claudeEvents, hooksIn } from '../shared/found-hooks.ts'
import { commandRule } from '../shared/found-rules.ts'
import { joined, noVariables, serversIn, textsIn } from '../shared/found-servers.ts'
import { rowOf } from '../shared/jsonl.ts'

/** Codex substitutes no variables; instead the fields `env_vars`, `bearer_token_env_var` and `env_http_headers` name them. */
const form = { text: noVariables }

type Map = Readonly<Record<string, unknown>>

/** The variables that a server receives, or whose values become its headers. */
function withVariables(server: FoundServer, written: Map): FoundServer {
  if ('url' in server) {
    const headers: Record<string, ServerValue> = { ...server.headers }
    const token = written.bearer_token_env_var
    if (typeof token === 'string') headers.Authorization = { reference: `Bearer \${${token}}` }
    if (isPlainObject(written.env_http_headers))
      for (const [name, variable] of Object.entries(written.env_http_headers))
        if (typeof variable === 'string') headers[name] = { reference: `\${${variable}}` }
    return { ...server, headers }
  }
  const listed: unknown[] = Array.isArray(written.env_vars) ? written.env_vars : []
  const names = listed.map((one) => (isPlainObject(one) ? one.name : one)).filter((one) => typeof one === 'string')
  return {
    ...server,
    env: { ...server.env, ...Object.fromEntries(names.map((name) => [name, { reference: `\${${name}}` }])) },
  }
}

/** `config.toml`: `[mcp_servers.name] command, args, env, cwd` or `url, http_headers`; `[[hooks.PreToolUse]]` as in `hooks.json`. */
function config(value: unknown): FoundSettings {
  if (!isPlainObject(value)) return {}
  const written = value.mcp_servers
  // Codex reads `http_headers` and ignores `headers`.
  const map = isPlainObject(written)
    ? Object.fromEntries(
        Object.entries(written).map(([name, one]) => [
          name,
          isPlainObject(one) ? { ...one, headers: one.http_headers } : one,
        ]),
      )
    : written
  const found = serversIn(map, form)
  const servers = found.servers?.map((server) => withVariables(server, (map as Record<string, Map>)[server.name]!))
  return joined({ ...found, ...(servers ? { servers } : {}) }, hooks(value))
}

/** `hooks.json`: the shape and the events of Claude Code; `[hooks.state]` of config.toml is Codex's own memory. */
function hooks(value: unknown): FoundSettings {
  if (!isPlainObject(value) || !isPlainObject(value.hooks)) return {}
  const { state: _, ...events } = value.hooks
  return hooksIn(events, { events: claudeEvents })
}

const decisions: Readonly<Record<string, FoundRule['list']>> = { allow: 'allow', prompt: 'ask', forbidden: 'deny' }

/** The most rules that one line with alternatives may expand into. */
const mostAlternatives = 64

/** `default.rules`: `prefix_rule(pattern=["git", ["status", "diff"]], decision="allow")`, each rule on one line or more. */
function rules(text: unknown): FoundSettings {
  const found: Required<Pick<FoundSettings, 'rules' | 'unusable'>> = { rules: [], unusable: [] }
  for (const call of callsIn(typeof text === 'string' ? text : '')) {
    const what = `rule ${call.replaceAll(/\s+/g, ' ').slice(0, 120)}`
    const read = prefixRule(call)
    if (typeof read === 'string') found.unusable.push({ what, why: read })
    else found.rules.push(...read)
  }
  return found
}

/** The statements of a file of rules, without comments; a statement ends at its last closing bracket. */
function callsIn(text: string): string[] {
  const calls: string[] = []
  let [call, depth] = ['', 0]
  for (const [piece] of text.matchAll(
    /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|[([{]|[)\]}]|[^"'#()[\]{}]+|["']/g,
  )) {
    if (piece.startsWith('#')) continue
    call += piece
    if (/^[([{]$/.test(piece)) depth++
    if (!/^[)\]}]$/.test(piece) || --depth > 0) continue
    calls.push(call.trim())
    call = ''
  }
  return [...calls, call.trim()].filter((one) => one !== '')
}

function prefixRule(call: string): FoundRule[] | string {
  const inside = /^prefix_rule\s*\(([^]*)\)$/.exec(call)?.[1]
  if (inside === undefined) return 'termaite reads only prefix_rule(…)'
  const fields = /^\s*(?:\w+\s*=\s*(?:"(?:[^"\\\n]|\\.)*"|\[[^]*?\](?=\s*(?:,\s*\w+\s*=|,?\s*$)))\s*,?\s*)*$/
  const pattern = /(?:^|,)\s*pattern\s*=\s*(\[[^]*?\])(?=\s*(?:,\s*\w+\s*=|,?\s*$))/.exec(inside)?.[1]
  if (pattern === undefined || !fields.test(inside)) return 'its fields are not written out as texts and lists'
  const decision = /(?:^|,)\s*decision\s*=\s*"(\w+)"/.exec(inside)?.[1] ?? 'allow'
  const list = rowOf(decisions, decision)
  const words = wordsIn(pattern)
  if (list === undefined || !words) return 'its decision or its pattern has another form'
  const all = words.reduce<string[][]>((made, next) => made.flatMap((one) => next.map((word) => [...one, word])), [[]])
  const ours = all.slice(0, mostAlternatives + 1).map(commandRule)
  if (all.length > mostAlternatives) return 'it stands for too many commands'
  if (!ours.every((rule) => rule !== undefined)) return 'a word of its pattern has to be quoted'
  return ours.map((rule) => ({ list, rule }))
}

/** A list of words, each of which may be a list of alternatives. */
function wordsIn(pattern: string): string[][] | undefined {
  try {
    const found: unknown = JSON.parse(pattern.replaceAll(/,(?=\s*\])/g, ''))
    const words = Array.isArray(found)
      ? found.map((one: unknown) => (typeof one === 'string' ? [one] : textsIn(one)))
      : []
    return words.length > 0 && words.every((one) => one.length > 0) ? words : undefined
  } catch {
    return undefined
  }
}

export const codexBelongings: Belongings = {
  settings({ home, root, env }) {
    const own = env.CODEX_HOME || join(home, '.codex')
    return [
      { path: join(own, 'config.toml'), owner: 'person', format: 'toml', read: config },
      { path: join(own, 'hooks.json'), owner: 'person', format: 'json', read: hooks },
      { path: join(own, 'rules'), ending: '.rules', owner: 'person', format: 'text', read: rules },
      { path: join(root, '.codex', 'config.toml'), owner: 'project', format: 'toml', read: config },
      { path: join(root, '.codex', 'hooks.json'), owner: 'project', format: 'json', read: hooks },
      { path: join(root, '.codex', 'rules'), ending: '.rules', owner: 'project', format: 'text', read: rules },
    ]
  },
  places({ home, env }) {
    const own = env.CODEX_HOME || join(home, '.codex')
    return [
      { kind: 'commands', path: join(own, 'prompts') },
      { kind: 'skills', path: join(own, 'skills') },
      { kind: 'skills', path: join(home, '.agents', 'skills'), name: 'shared' },
      { kind: 'instructions', path: join(own, 'AGENTS.md') },
    ]
  },
}
