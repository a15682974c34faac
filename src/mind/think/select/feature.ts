import type { Finding } from './finding.ts'
import type { Request } from './request.ts'
import { found } from './finding.ts'
import { opens, sign } from './request.ts'
import { destroys, makes } from './signs.ts'

/** What has parts of its own: schema, logic, screens. */
const whole = sign(
  '(app|application|apps|site|website|web ?page generator|platform|dashboard|portal|panel|game|engine|blog|shop|store|marketplace|board|editor|compiler|interpreter|cli|framework|network|clone|crm|cms|wiki|forum|chatbot|bot|browser|emulator|operating system|database engine|package manager|plugin system|job queue|scheduler|pipeline|microservices?|backend|frontend|full-stack|fullstack|mobile (app|version)|desktop app|extension|web ui|api with|version of this (app|site))',
)

/** What reaches into every part of a product. */
const crosscutting = sign(
  '(authentication|login|log-in|sign-?in|sign-?up|registration|user accounts|roles|multi-?tenancy|internationali[sz]ation|i18n|locali[sz]ation|dark mode|offline|real-?time|collaboration|notifications?|search|comments?|billing|subscriptions|payments|undo and redo|plugins?|multiple languages|multi-language|accessibility|analytics|caching layer|support for multiple \\w+|rate limiting|sso)',
)
const product = sign(
  '(to|in|into|across|throughout|for|on) (the|this|our|my|a) (whole |entire )?(app|application|product|platform|site|website|editor|project|codebase|system|frontend|backend|service|api|game|web app|game)',
)

const sweeping = sign(
  'from scratch|whole|entire|full(-stack)?|complete|end-to-end|production-ready|throughout|across the \\w+|the whole spec|spec in FILE',
)

/** Three things or more, one after the other. */
const enumeration = / \w+( \w+){0,3} , (\w+ ){1,4}(, (\w+ ){1,4})*(,)? ?and \w+/

const reshapes = opens('(port|rewrite|rebuild|re-?implement|redesign|split|convert|migrate|turn|transform)')
const codebase = sign(
  'codebase|(whole|entire) \\w+|frontend|backend|monolith|website|web app|the app|app from|into (micro)?services|microservices|prototype|site',
)

const wants = opens('(i|we) (want|need|would like) (users|people|customers|everyone|visitors|admins|a|an|our)')

export function largeFeature({ text, core }: Request): Finding | undefined {
  if (destroys(text)) return undefined
  if (reshapes(core) && codebase(core)) return found('decompose', 0.8, 'a whole code base changes')
  if (!makes(core) && !wants(core)) return undefined
  if (crosscutting(core) && product(core)) return found('decompose', 0.85, 'a feature with many parts')
  if (enumeration.test(core)) return found('decompose', 0.8, 'several parts at once')
  // "Make the site faster" builds nothing.
  if (whole(core) && !/^ make the .* \w+er /.test(core) && builds(core))
    return found('decompose', 0.8, 'something whole to build')
  if (crosscutting(core) && / (and|with|by) /.test(core)) return found('decompose', 0.75, 'a feature with many parts')
  return sweeping(core) && builds(core) ? found('decompose', 0.7, 'something whole to build') : undefined
}

/** The thing itself is made, and not only something on its side: "a test for the editor". */
function builds(core: string): boolean {
  const object = core.replace(/ (for|in|of|to|from|that|which|on) .*$/, ' ')
  return whole(object) || sweeping(core) || crosscutting(object)
}
