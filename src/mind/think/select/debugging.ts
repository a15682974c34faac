import type { Finding } from './finding.ts'
import type { Request } from './request.ts'
import { dataProcessing } from './data.ts'
import { found } from './finding.ts'
import { opens, sign } from './request.ts'
import {
  changes,
  delicate,
  destroys,
  errorName,
  explores,
  fixes,
  inquires,
  makes,
  open,
  questions,
  removes,
  trouble,
  wishes,
} from './signs.ts'

/** Something is wrong and nobody knows why. */
export function debugging(request: Request): Finding | undefined {
  const { text, core, whole } = request
  if (inquires(core)) return found('sequential', 0.9, 'a cause is looked for')
  const wrong = trouble(text) || errorName.test(whole)
  if (fixes(core)) {
    if (wrong) return found('sequential', 0.9, 'something to fix')
    return delicate(text) || destroys(text) ? undefined : found('sequential', 0.7, 'something to fix')
  }
  // "Add error handling" names trouble, and has none.
  if (makes(core) || changes(core) || removes(core) || explores(core) || open(text) || wishes(text)) return undefined
  if (dataProcessing(request)) return undefined
  if (wrong) return found('sequential', 0.85, 'something does not work')
  return tells(core) && !questions(core) ? found('sequential', 0.65, 'how things are, not what to do') : undefined
}

/** Whoever only says how things are is telling of trouble; whoever says what is wanted is not, unless it is otherwise. */
const tells = (core: string) => states(core) && !hopes(core) && (!wanted(core) || differs(core))

const states = opens(
  '(the|my|our|this|that|these|those|it|there|something|somebody|someone|nobody|nothing|i|we|users|people|everyone|everything|some) .*\\w+ \\w+',
  '(?!(make|check|see|ensure|be|if|when) )\\w+( \\w+)? (is|are|was|were|gets?|got|has|keeps?|goes|stays?|says?|said|complains?|can not|will not|do not|does not|never|always) .*\\w+',
  '(clicking|pressing|opening|running|loading|starting|saving|typing) .*\\w+ \\w+',
  'it (worked|works|used to) .*\\w+',
)
const wanted = sign('should|shall|must|ought to|needs? to|has to|have to')
const differs = sign('but|instead|however|yet|although|though|not')
const hopes = opens('(i|we) (want|need|would|wish|prefer|think|like|plan|am (thinking|looking)|are (thinking|looking))')
