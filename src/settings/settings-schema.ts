import type { Language } from '../languages/language.ts'
import type { Shape, TypeOf } from '../core/data/shape.ts'
import { strategies } from '../core/work/agent.ts'
import { advisorRoles, thinkings } from '../core/talk/framework.ts'
import { machineOffers } from '../hub/model/machine-standing.ts'
import { languages } from '../languages/language.ts'
import { changeableActions, sendableKey } from '../core/screen/chat-keys.ts'
import { themeMeanings, themeNames } from '../core/talk/themes.ts'
import { hooksSchema } from '../safety/hooks/hook-config.ts'
import { modes } from '../safety/rules/permission-modes.ts'
import { rulePattern } from '../safety/rules/permission-rule.ts'
import { occasions } from '../core/talk/notice.ts'
import { about, anything, either, integer, list, mapOf, Misfit, object, oneOf, string } from '../core/data/shape.ts'
import { agentList, agentMap } from './agent-schema.ts'
import {
  amount,
  count,
  describeSetting,
  filled,
  flag,
  leash,
  meaningOfLeash,
  name,
  numberFrom0,
  setting,
  spawnMode,
  text,
} from './setting-shapes.ts'

/** A permission rule; settings-file.ts explains the errors in a rule. */
const rule = describeSetting(text, { pattern: rulePattern.source })
const hooks = describeSetting(mapOf(anything()), hooksSchema)
const servers = mapOf(anything())

const key = string({
  matches: sendableKey,
  wants:
    'a key that every terminal can send and that types nothing, such as ctrl+k, alt+p, f2 or shift+tab (ctrl+i, ctrl+m and ctrl+h arrive as Tab, Enter and Backspace)',
})

const cap = object({
  cost: setting('The cost in dollars.', amount),
  tokens: setting('The number of tokens.', count),
})

const shownPath = string({ matches: /^(?:\/|~\/)./, wants: 'a path that begins with / or ~/' })
const age = string({ matches: /^(?:\d{1,6}[dh])+$/, wants: 'a time such as 90d or 12h' })
const mode = oneOf(...modes)
const sharing = oneOf('all', 'ask')
const forbidding = {
  ask: setting('Rules for calls that need the person’s yes, even if another rule allows them.', list(rule)),
  deny: setting('Rules for calls that are refused; these come before all others.', list(rule)),
}

const languageFlags = Object.fromEntries(
  languages.map((each) => [each, setting(`Whether errors of ${each} are reported.`, flag)]),
) as Record<Language, Shape<boolean | undefined>>
const diagnostics = either(
  flag,
  object({ ...languageFlags, seconds: setting('How long an edit waits for the errors.', amount) }),
)

const places = object({
  ntfy: setting(
    'The address of an ntfy topic. A token for its server is read from NTFY_TOKEN.',
    string({
      matches:
        /^[Hh][Tt][Tt][Pp][Ss]?:\/\/(?:[^\s/?#@]+@)?(?:[^\s/?#@:\\[\]]+|\[[\dA-Fa-f:.]+\])(?::\d{1,5})?(?:[/?#]\S*)?$/,
      wants: 'the http(s) address of a topic',
    }),
  ),
  command: setting('A command that gets the notice as JSON on its standard input.', filled),
  on: setting('The occasions that are reported here. Default: all of them.', list(oneOf(...occasions))),
})

/** A place to send notices to: exactly one of `ntfy` and `command`. */
const place: Shape<TypeOf<typeof places>> = {
  wants: 'an object with either "ntfy" or "command"',
  json: (detail) => ({ ...places.json(detail), oneOf: [{ required: ['ntfy'] }, { required: ['command'] }] }),
  read(value, at) {
    const before = at.faults?.length
    const read = places.read(value, at)
    if (at.faults?.length !== before) return read
    const { ntfy, command } = read
    if ((ntfy === undefined) === (command === undefined))
      throw new Misfit({ is: 'wrong', path: at.path, found: JSON.stringify(value), wants: place.wants })
    return read
  },
}

const formatters = mapOf(filled)
const meaningOfFormatter =
  'Commands that format a file after an edit, by a pattern of its path such as *.ts or src/**. The path is in $FILE; a command that does not use $FILE gets the path as its last argument.'

const hub = object({
  url: setting('The address of the hub (http://localhost:3456).', text),
  innerUrl: setting('The address at which other hubs with the same ledger reach this one.', filled),
  clone: setting('What agents of this machine may clone with --clone, as in github.com/acme/*.', list(filled)),
  push: setting('Whether agents push the branches of their tasks, as with --push (false).', flag),
  merge: setting('Whether the hub may have this machine merge approved work in its clones (false).', flag),
  taskCap: setting(
    'The most that a task may use before it is paused and a person is asked. A task can name a cap of its own.',
    cap,
  ),
  dayCap: setting('The most that a workspace may use on one day before a person is asked.', cap),
  ledger: setting(
    'The database where the hub keeps its tasks, as in postgres://termaite@db.example/termaite. Default: the file hub.db.',
    filled,
  ),
  ledgerPasswordFile: setting('A file with the password of that database.', filled),
  publicUrl: setting('The https address of the proxy in front of the hub, as with --public-url.', filled),
  tls: setting(
    'The files of a certificate, as with --tls-cert and --tls-key.',
    object({ cert: about('The certificate (PEM, with its chain).', filled), key: about('Its private key.', filled) }),
  ),
  behindProxy: setting('The addresses of the proxies in front of the hub, as with --behind-proxy.', list(filled)),
  keepFinished: setting(
    'How long finished tasks are kept after they were last touched, such as 90d. Default: for good.',
    age,
  ),
  keepChanges: setting(
    'How many changes are kept for followers that fall behind (50000 in a file, 100000 in PostgreSQL).',
    integer(1_000, 10_000_000),
  ),
  auditDays: setting('How many days the audit of acts at the hub is kept (400).', count),
  metricsFrom: setting('Addresses that may read the metrics of the hub (/metrics) without a key.', list(filled)),
  sso: setting(
    'How the hub lets in people whom the proxy in front of it has signed in.',
    object({
      header: about('The header with the name of the person.', filled),
      from: setting(
        'The proxy addresses whose sign-in header is trusted. Default: those of hub.behindProxy.',
        list(filled),
      ),
      secretFile: setting('A file with a secret that the proxy sends with each request.', filled),
      role: setting('The role of a person to whom no group gives one.', oneOf('observer', 'member', 'admin')),
      roleHeader: setting('The header with the groups of the person.', filled),
      roles: setting('The role of each group.', mapOf(oneOf('observer', 'member', 'admin'), filled)),
    }),
  ),
})

const common = {
  $schema: setting('The address of this schema, for editors.', text),
  rotationStrategy: setting(
    'How the agent of a turn is chosen. round-robin: the next one each time; exhaustion: the same one until it is out of quota; random: any one; measured: by the results of the agents in this project.',
    oneOf(...strategies),
  ),
  timeoutSeconds: setting('How long a whole turn may take.', amount),
  silenceSeconds: setting(
    'How long an agent may be silent in a turn: no output, no running tool, no changed file.',
    amount,
  ),
  idleAgentMinutes: setting(
    'How many minutes the chat keeps the process of an agent for its next turn, which then begins at once. 0 starts a new process for each turn.',
    numberFrom0,
  ),
  retrySeconds: setting(
    'How long termaite’s own agent keeps retrying while its provider is busy or broken and no other agent is free.',
    numberFrom0,
  ),
  cooldown: setting(
    'When an agent that fails is left out for a while.',
    object({
      failures: setting('How many failures in a row begin a cool-down.', count),
      seconds: setting('How many seconds the first cool-down lasts; each further one lasts twice as long.', amount),
      maxSeconds: setting('The longest cool-down, in seconds.', amount),
    }),
  ),
  maxSteps: setting(
    'How many steps termaite’s own agent makes in a turn that nobody watches; --max-steps overrides it.',
    count,
  ),
  askEverySteps: setting(
    'After how many steps of one turn a person who watches is asked whether the agent should go on.',
    count,
  ),
  leash: setting(`How much the agents may do. ${meaningOfLeash}.`, leash),
  sharing: setting(
    'Whether a conversation may reach a vendor that has not seen it yet. all: always; ask: only after a person says yes.',
    sharing,
  ),
  metaInstruction: setting(
    'Whether agents are asked to end their answers with a summary in proportion to the work; a text replaces the words that ask for it.',
    either(flag, text),
  ),
  permissions: setting(
    'Permission rules of termaite’s own agent: Tool or Tool(pattern). deny comes before ask, ask before allow.',
    object({
      mode: setting('How strict termaite is about calls that no rule matches.', mode),
      allow: setting('Rules for calls that are allowed without a question.', list(rule)),
      ...forbidding,
    }),
  ),
  mcpServers: setting('MCP servers whose tools termaite’s own agent may call, by name; see docs/mcp.md.', servers),
  hooks: setting('Commands that run at events of a turn, in the format of Claude Code.', hooks),
  sandbox: setting(
    'The sandbox in which shell commands of termaite’s own agent run.',
    object({
      enabled: setting('Whether commands run in the sandbox, if the machine has one.', flag),
      network: setting(
        'Whether commands in the sandbox reach the network. rule: if a rule or the person allows it; all: always; none: never.',
        oneOf('rule', 'all', 'none'),
      ),
      env: setting(
        'Environment variables that commands in the sandbox are given, besides those that hold no secret.',
        list(filled),
      ),
      show: setting(
        'Files and folders outside the project that commands in the sandbox may read, besides the system and toolchains; ~/ is your home.',
        list(shownPath),
      ),
    }),
  ),
  untrustedInstructions: setting(
    'What termaite’s own agent is shown of AGENTS.md and the like in a folder that is not trusted. leave: only where they are; text: their text, marked as a stranger’s.',
    oneOf('leave', 'text'),
  ),
  diagnostics: setting(
    'Whether termaite’s own agent gets the errors that an installed language server finds after an edit.',
    diagnostics,
  ),
  formatter: setting(
    `${meaningOfFormatter} "off" turns off the formatters of projects too.`,
    either(oneOf('off'), formatters),
  ),
  web: setting(
    'How termaite’s own agent may use the web.',
    object({
      search: setting('The search provider.', filled),
      allowed: setting('Private hosts that may be fetched from.', list(filled)),
    }),
  ),
  thinking: setting(
    'How agents think a request through before they act. Default: auto in the chat and in agent mode, else off.',
    oneOf(...thinkings),
  ),
  thinkingCalls: setting(
    'How many extra calls to agents a framework may make in one turn before it asks. If no person can be asked, the tool think makes no more calls than this.',
    numberFrom0,
  ),
  advisors: setting('The agent for each role of the thinking frameworks.', mapOf(name, oneOf(...advisorRoles))),
  terminals: setting(
    'The terminals of agents.',
    object({
      host: setting(
        'Where terminals run: in tmux, or inside termaite (pty); auto takes tmux if it is installed.',
        oneOf('auto', 'tmux', 'pty'),
      ),
      spawn_mode: setting('Where a terminal opens in tmux.', spawnMode),
      desktop_window: setting(
        'A command that opens a window of the desktop, such as xterm -e: each agent of a crew is then shown in one.',
        filled,
      ),
    }),
  ),
  crew: setting(
    'Agents side by side.',
    object({
      perWorkspace: setting('How many agents of one crew run at once.', count),
      total: setting('How many agents of all crews run at once.', count),
      setup: setting('The command that prepares a new worktree, such as npm ci.', filled),
    }),
  ),
  coordinator: setting(
    'The limits of one turn of a coordinator and all its workers together.',
    object({
      workers: setting('The most workers in one turn.', count),
      steps: setting('The most steps of all workers together.', count),
      tokens: setting('The most tokens that the turn may use.', count),
      cost: setting('The most dollars that the turn may cost. Default: no limit.', amount),
      minutes: setting('The most minutes that the turn may take.', amount),
    }),
  ),
  hub: setting('The hub: where agents register and take tasks.', hub),
  link: setting(
    'The link of this machine to a hub elsewhere.',
    object({
      name: setting('The name of this machine at the hub. Default: its host name.', filled),
      offer: setting('What people at the hub may see and do here.', list(oneOf(...machineOffers))),
    }),
  ),
  notify: setting(
    'Where notices go while nobody looks at the terminal.',
    list(either(oneOf('desktop', 'bell'), place)),
  ),
  additionalFolders: setting(
    'Folders beside the project that agents may read and change like it; relative ones begin at the project.',
    list(filled),
  ),
  screenReader: setting('Whether the chat is shown as plain lines for a screen reader.', flag),
  keys: setting(
    'The keys of the chat, by the name of the action: a key or a list of keys, such as ctrl+k, alt+p, f2 or shift+tab. /keys shows the keys in use.',
    mapOf(either(key, list(key)), oneOf(...changeableActions)),
  ),
  vim: setting('Whether the input of the chat has the keys of vim, which /vim turns on and off too.', flag),
  theme: setting(
    `The colours of the chat, which /theme chooses too. ${themeNames.map((each) => `${each}: ${themeMeanings[each]}`).join('; ')}. NO_COLOR wins.`,
    oneOf(...themeNames),
  ),
}

const meaningOfAgents = 'The agents, in the order in which they take turns: a list, or a map from name to agent.'

/** The user's file with its agents in a list. */
export const listForm = object({ ...common, agents: setting(meaningOfAgents, agentList) })
/** The user's file with its agents in a map from name to agent. */
export const mapForm = object({ ...common, agents: setting(meaningOfAgents, agentMap) })

export const projectFile = '.termaite/settings.json'

/**
 * A project's file. It can only tighten the limits on agents, and name programs that start once the folder is trusted.
 * It cannot define an agent's command.
 */
export const projectForm = object({
  $schema: setting('The address of this schema, for editors.', text),
  leash: setting(`The most that agents may do in this project. ${meaningOfLeash}.`, leash),
  permissions: setting(
    'Permission rules that hold in this project besides those of the person.',
    object({ mode: setting('The loosest permission mode that may be used in this project.', mode), ...forbidding }),
  ),
  agents: setting(
    'The agents that may work here: a list of names, or limits by name.',
    either(
      list(name),
      mapOf(
        object({
          enabled: setting('false keeps the agent out of this project.', flag),
          leash: setting('The most that this agent may do here.', leash),
          wall: setting('true puts this CLI behind termaite’s sandbox.', flag),
        }),
        name,
      ),
    ),
  ),
  vendors: setting('The vendors whose agents may work here, such as Anthropic.', list(filled)),
  additionalFolders: setting('Folders beside the project that agents may read and change like it.', list(filled)),
  sharing: setting('ask: a person is asked before a conversation of this project reaches another vendor.', sharing),
  sandbox: setting(
    'The sandbox of shell commands in this project.',
    object({
      network: setting('Whether commands in the sandbox reach the network.', oneOf('rule', 'none')),
    }),
  ),
  diagnostics: setting(
    'Whether errors of language servers are reported after edits in this project.',
    either(flag, object(languageFlags)),
  ),
  mcpServers: setting('MCP servers of this project, by name; see docs/mcp.md.', servers),
  hooks: setting('Commands that run at events of a turn; those of a project always run in the sandbox.', hooks),
  crew: setting(
    'Crews in this project.',
    object({ setup: setting('The command that prepares a new worktree, such as npm ci.', filled) }),
  ),
  formatter: setting(meaningOfFormatter, formatters),
})

export type ProjectSettings = TypeOf<typeof projectForm>
export type FileSettings = TypeOf<typeof listForm>
export type MapSettings = TypeOf<typeof mapForm>
