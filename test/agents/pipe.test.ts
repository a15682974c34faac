import { agentContract } from '../contract/agent.ts'
import { piped, running } from './piping.ts'

agentContract('pipe', {
  says: (text) => piped({ command: `cat >/dev/null; echo '${text}'` }),
  hangs: (text) => piped({ command: `echo '${text} '; sleep 77 & wait` }),
  breaks: (text) => piped({ command: `echo '${text}'; exit 3` }),
  running,
})
