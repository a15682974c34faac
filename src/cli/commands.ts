import type { CliCommand } from './arguments/cli-command.ts'
import { json, yes } from './arguments/cli-command.ts'
import { limitFlags } from './arguments/turn-flags.ts'
import { crewCommands } from './crew-commands.ts'

const session = { value: 'name', help: 'use the session with this name or id' }

/** Every command other than the chat, one row each. The help, the completion and the parser are made from these rows. */
export const commands: readonly CliCommand[] = [
  {
    name: 'setup',
    words: '[cli …]',
    summary:
      'Find the agent CLIs and models on this machine and write settings.json; where you have one, only its agents and its leash change. At its end it offers to use what you have set up for those CLIs: MCP servers, commands, skills, subagents, instructions, rules and hooks. --use does this alone, for all CLIs or for some.',
    flags: {
      use: { help: 'only offer what you have set up for other CLIs' },
      'dry-run': { help: 'with --use: only show what there is' },
      undo: { help: 'with --use: undo an earlier --use' },
      yes: { help: 'do not ask; with --use, hooks and rules that allow something are left out' },
      ...json,
    },
    examples: [
      'termaite setup',
      'termaite setup --yes',
      'termaite setup --use --dry-run',
      'termaite setup --use --undo',
    ],
    load: () => import('./commands/machine/setup.ts'),
  },
  {
    name: 'doctor',
    words: '[agent]',
    summary:
      'Check each agent: is it installed and logged in, does it answer, is it out of quota, what may it do. Shows problems first, each with the next step, on one screen. Exits 1 if no agent works.',
    flags: {
      security: { help: 'show what each agent may do, and who else can read termaite’s files' },
      quick: { help: 'do not ask any agent for an answer' },
      verbose: { short: 'v', help: 'show everything about each agent, the language servers and the sandbox' },
      ...json,
    },
    examples: ['termaite doctor', 'termaite doctor claude', 'termaite doctor --verbose', 'termaite doctor --security'],
    load: () => import('./commands/machine/doctor.ts'),
  },
  {
    name: 'demo',
    summary: 'Watch a conversation survive a spent quota and a hanging agent. Needs no account and no network.',
    examples: ['termaite demo'],
    load: () => import('./commands/demo.ts'),
  },
  {
    name: 'sessions',
    words: '[list|show <id>|search <words>|resume <id>|rename <id> <name>|delete <id>|export <id>|move <old folder>]',
    summary:
      'List, read, search, resume, rename, delete and export past conversations; move one to the folder where its project is now. Those of the coordinator are marked; a search finds the words of its workers too. Deleting asks first, and erases the words, long outputs, workers and snapshots of that session for good.',
    flags: {
      all: { help: 'include every project' },
      format: { value: 'format', choices: ['markdown', 'json', 'jsonl'], help: 'with export: the file format' },
      ...yes,
      ...json,
    },
    examples: [
      'termaite sessions',
      'termaite sessions search "flaky test"',
      'termaite sessions export 01k --format markdown > talk.md',
      'termaite sessions delete 01k',
    ],
    load: () => import('./commands/sessions.ts'),
  },
  {
    name: 'import',
    words: '[claude|codex|gemini|qwen|copilot|pi|opencode …]',
    summary:
      'Copy this project’s earlier sessions of other CLIs from their own files, to search them here and to continue them. Lists them before it copies; run it again to copy newer ones. No imported text reaches another vendor unless you continue a session and the setting sharing allows it.',
    flags: {
      'dry-run': { help: 'only show what would be copied' },
      undo: { help: 'remove the copies; the files of the other CLIs stay as they are' },
      ...yes,
      ...json,
    },
    examples: ['termaite import', 'termaite import claude codex --yes', 'termaite import --undo'],
    load: () => import('./commands/import.ts'),
  },
  {
    name: 'usage',
    summary:
      'Show tokens and cost by agent, day, project or thinking framework. Each number says whether it was reported, parsed or estimated.',
    flags: {
      by: { value: 'what', choices: ['agent', 'day', 'project', 'framework'], help: 'how to group the rows' },
      since: { value: 'time', help: 'count from this date, or from an age such as 7d or 12h' },
      all: { help: 'include every project' },
      everywhere: {
        help: 'also count your use of the CLIs outside termaite, from their own records; each request once',
      },
      ...json,
    },
    examples: ['termaite usage', 'termaite usage --by day --since 7d --all', 'termaite usage --everywhere --all'],
    load: () => import('./commands/usage.ts'),
  },
  {
    name: 'audit',
    words: '[verify|export]',
    summary:
      'Show what you allowed each agent to do, and what termaite’s own agent did. verify checks the record; it exits 0 if the record is complete, 3 if entries are missing, and 1 if somebody changed it.',
    flags: { ...json },
    examples: ['termaite audit', 'termaite audit verify', 'termaite audit export > audit.jsonl'],
    load: () => import('./commands/machine/audit.ts'),
  },
  {
    name: 'diff',
    words: '[turn]',
    summary: 'Show which files a turn changed, and how.',
    flags: {
      stat: { help: 'show only the names of the files' },
      list: { help: 'list the turns with changes' },
      ...json,
    },
    examples: ['termaite diff', 'termaite diff --list'],
    load: () => import('./commands/diff.ts'),
  },
  {
    name: 'review',
    words: '[range]',
    summary:
      'Let an agent review changes without changing anything: the uncommitted ones, or those of a commit, a branch (main: everything since you left it) or a range (main..HEAD). Exits 0 when no finding is of severity high, 1 when one is or the review failed, 75 when no agent is free.',
    flags: {
      agent: {
        short: 'a',
        value: 'name|auto',
        help: 'the agent that reviews; one of a vendor other than the author’s sees other faults',
      },
      focus: { value: 'text', help: 'what the reviewer should look at above all' },
      ...limitFlags,
      cwd: { value: 'dir', help: 'the folder of the project' },
      ...json,
    },
    examples: [
      'termaite review',
      'termaite review main -a codex',
      'termaite review main..HEAD --json > findings.json',
      'termaite review HEAD --focus "locking"',
    ],
    load: () => import('./commands/review.ts'),
  },
  {
    name: 'race',
    words: '<request…> | show [racer] | choose <racer>',
    summary:
      'Give one request to several agents at once, each in a copy of the project as it is now. The results are checked by the same commands, judged by an agent that does not know whose they are, and shown side by side; the one that you choose is brought into the project, and undo takes it back. Exits 0 when a result is right, 1 when none is, 75 when no agent is free.',
    flags: {
      agent: {
        short: 'a',
        value: 'names',
        help: 'the agents that race, for example claude,codex (default: all); an agent that is named twice races against itself',
      },
      check: {
        value: 'command',
        help: 'the command that shows whether a result works (default: the project’s own build and tests)',
      },
      first: { help: 'stop the other agents as soon as one result is right' },
      yes: { short: 'y', help: 'bring the best result into the project instead of asking' },
      ...limitFlags,
      cwd: { value: 'dir', help: 'the folder of the project' },
      ...json,
    },
    examples: [
      'termaite race "fix the failing test" -a claude,codex,native',
      'termaite race "fix the test" -a claude,codex --check "npm test" --first --yes',
      'termaite race show 2',
      'termaite race choose 2',
    ],
    load: () => import('./commands/race.ts'),
  },
  {
    name: 'undo',
    words: '[turn]',
    summary:
      'Undo the changes of a turn: of the last one, or of the one that you name. Asks first; termaite redo brings the changes back. Run again without an id, it undoes the turn before. It covers the files of the project, of repositories inside it and of added folders; it does not cover files that git ignores, such as .env, anything in a .git folder (commits stay), and what is outside these folders.',
    flags: { ...yes, ...json },
    examples: ['termaite undo', 'termaite undo --yes', 'termaite undo 01kq'],
    load: () => import('./commands/undo.ts'),
  },
  {
    name: 'redo',
    words: '[turn]',
    summary:
      'Bring back what the last undo took away, or the undo of the turn that you name; run again, it redoes the undo before. Asks first. Without an id it reaches back to the last turn that changed a file.',
    flags: { ...yes, ...json },
    examples: ['termaite redo', 'termaite redo --yes', 'termaite redo 01kq'],
    load: () => import('./commands/redo.ts'),
  },
  {
    name: 'good',
    words: '[why…]',
    summary:
      'Call the last answer in this project good. `termaite usage` and the rotation strategy "measured" count it.',
    flags: { session },
    examples: ['termaite good'],
    load: async () => (await import('./commands/thumb.ts')).good,
  },
  {
    name: 'bad',
    words: '[why…]',
    summary:
      'Call the last answer in this project bad. `termaite usage` and the rotation strategy "measured" count it.',
    flags: { session },
    examples: ['termaite bad', 'termaite bad the tests still fail'],
    load: async () => (await import('./commands/thumb.ts')).bad,
  },
  {
    name: 'compact',
    summary: 'Summarise the older half of the conversation now.',
    flags: {
      session,
      mode: {
        value: 'mode',
        choices: ['coordinator'],
        help: 'the conversation of the coordinator, which is kept apart',
      },
    },
    examples: ['termaite compact', 'termaite compact --mode coordinator'],
    load: () => import('./commands/compact.ts'),
  },
  {
    name: 'init',
    summary: 'Let an agent read the project and write AGENTS.md. Asks first, and keeps a copy of an existing file.',
    flags: { ...yes },
    examples: ['termaite init', 'termaite init --yes'],
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'system',
    summary:
      'Show what is installed on this machine, as termaite tells its own agent. The machine is scanned again after a day.',
    flags: { refresh: { help: 'scan again now' }, ...json },
    examples: ['termaite system', 'termaite system --refresh', 'termaite system --json'],
    load: () => import('./commands/machine/system.ts'),
  },
  {
    name: 'config',
    words: '[path|print|validate|edit]',
    summary: 'Find, print, check or edit the settings file.',
    flags: { ...json },
    examples: ['termaite config validate', 'termaite config edit'],
    load: () => import('./commands/machine/config.ts'),
  },
  {
    name: 'where',
    summary: 'List every file, worktree and process of termaite, and its entries in other programs’ settings.',
    flags: { ...json },
    examples: ['termaite where'],
    load: () => import('./commands/machine/where.ts'),
  },
  {
    name: 'trust',
    words: '[path]',
    summary: 'Trust a folder: let its hooks, MCP servers, skills and settings be used until one of them changes.',
    flags: {
      ...yes,
      list: { help: 'list the trusted folders' },
      revoke: { help: 'stop trusting a folder' },
      ...json,
    },
    examples: ['termaite trust', 'termaite trust ~/code/shop --yes', 'termaite trust --revoke'],
    load: () => import('./commands/machine/trust.ts'),
  },
  {
    name: 'quarantine',
    words: '[restore <id>]',
    summary: 'List the files that were taken away because programs could start from them, or put them back.',
    flags: { ...json },
    examples: ['termaite quarantine', 'termaite quarantine restore 3k7q0vmx'],
    load: () => import('./commands/machine/quarantine.ts'),
  },
  {
    name: 'forget',
    words: '[project]',
    summary: 'Erase the conversations, snapshots and index of a project. Its own files are not touched.',
    flags: { ...yes },
    examples: ['termaite forget', 'termaite forget ~/code/old --yes'],
    load: () => import('./commands/forget.ts'),
  },
  {
    name: 'uninstall',
    summary: 'Remove termaite’s entries from other programs’ settings, and delete its own files.',
    flags: { ...yes, 'keep-history': { help: 'keep settings and conversations' } },
    examples: ['termaite uninstall'],
    load: () => import('./commands/machine/uninstall.ts'),
  },
  {
    name: 'ps',
    summary: 'List the running turns, and the running chats, agents, hubs and servers of termaite.',
    flags: { ...json },
    examples: ['termaite ps'],
    load: () => import('./commands/ps.ts'),
  },
  {
    name: 'stop',
    words: '[id|hub|<agent>|<pid>]',
    summary: 'Cancel a running turn, in whichever process it runs, or stop the hub or another process that `ps` lists.',
    flags: { all: { help: 'cancel every running turn' } },
    examples: ['termaite stop 01kq', 'termaite stop hub', 'termaite stop --all'],
    load: () => import('./commands/stop.ts'),
  },
  ...crewCommands,
  {
    name: 'acp',
    summary: 'Let an editor that speaks ACP (Zed, JetBrains, Neovim …) use termaite’s agents, over stdin and stdout.',
    examples: ['termaite acp'],
    load: () => import('./commands/acp.ts'),
  },
  {
    name: 'help',
    words: '[topic|words…]',
    summary: 'Read a page about a part of termaite, or search all of them. Without a topic, lists all pages.',
    examples: ['termaite help', 'termaite help getting-started', 'termaite help sandbox network'],
    load: () => import('./commands/help.ts'),
  },
  {
    name: 'completion',
    words: '[bash|zsh|fish]',
    summary: 'Complete termaite’s commands and flags in your shell: install the script, or print it.',
    flags: {
      install: { help: 'write the script where your shell finds it, and say where; the shell may be left out' },
      uninstall: { help: 'remove the installed script' },
    },
    examples: ['termaite completion --install', 'eval "$(termaite completion bash)"'],
    load: () => import('./commands/machine/completion.ts'),
  },
]
