import { agentContract } from '../contract/agent.ts'
import { running, saying } from './piping.ts'

agentContract('pipe', {
  says: (text) => saying(`cat >/dev/null; echo '${text}'`),
  hangs: (text) => saying(`echo '${text}'; sleep 77 & wait`),
  breaks: (text) => saying(`echo '${text}'; exit 3`),
  running,
})
