import { agentContract } from '../contract/agent.ts'
import { askingContract } from '../contract/asking.ts'
import { testDialect } from './dialect.ts'
import { piped, profileOf, running } from './pipe-rig.ts'

agentContract('pipe', {
  says: (text) => piped({ command: `cat >/dev/null; echo '${text}'` }),
  hangs: (text) => piped({ command: `echo '${text} '; sleep 77 & wait` }),
  breaks: (text) => piped({ command: `echo '${text}'; exit 3` }),
  running,
})

/** The same over a CLI that talks both ways and stays until its stdin is closed. */
const speak = (...steps: object[]) =>
  `read -r prompt; ${steps.map((step) => `echo '${JSON.stringify(step)}'`).join('; ')}`
const profile = profileOf({ speaks: () => true, dialect: () => testDialect({ asks: true, stop: () => 'stop\n' }) })

agentContract('pipe, both ways', {
  says: (text) =>
    piped({
      profile,
      command: `${speak({ type: 'text', delta: text }, { type: 'end', outcome: { ok: true, text } })}; cat`,
    }),
  hangs: (text) => piped({ profile, command: `${speak({ type: 'text', delta: `${text} ` })}; cat` }),
  breaks: (text) => piped({ profile, command: `${speak({ type: 'text', delta: `${text} ` })}; exit 3` }),
  running,
})

const question = { about: 'permission', text: 'May I?', from: [], options: [{ id: 'yes', label: 'Yes' }] }

askingContract('pipe, both ways', {
  asks: () =>
    piped({
      profile,
      command: `${speak({ type: 'ask', question })}; read -r said; echo '${JSON.stringify({ type: 'end', outcome: { ok: true, text: 'done' } })}'; cat`,
    }),
  running,
})
