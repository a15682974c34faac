import { opens, sign } from './request-text.ts'

/** The first word of a request says most about what is asked for. */
export const makes = opens(
  '(add|build|create|write|implement|make|develop|design|introduce|code|program|integrate|give|generate)',
)
export const changes = opens(
  '(refactor|change|update|upgrade|migrate|harden|rotate|restructure|reorganise|reorganize|replace|rewrite|rework|modify|adjust|move|review|audit|clean up|simplify|secure|protect|encrypt|sanitize|sanitise|reset|apply|revoke|grant)',
)
export const removes = opens(
  '(delete|remove|drop|wipe|erase|purge|rm|truncate|destroy|clear|force push|format the disk)',
)
export const fixes = opens('(fix|repair|solve|resolve|correct|debug|get rid of)')
export const inquires = opens(
  '(debug|diagnose|troubleshoot|investigate|track down|trace|reproduce|bisect|figure out|find out|look into|analyse why|analyze why|why|how come)',
)
export const questions = opens(
  '(what|which|where|who|whose|when|how|is|are|was|does|do|did|has|have|can|could|should|would|will|am)',
)

/** Something does not work as it should. */
export const trouble = sign(
  'bugs?|buggy|crash(es|ed|ing)?|fail(s|ed|ing|ure|ures)?|errors?|exceptions?|broken|breaks|stack ?traces?|tracebacks?|segfaults?|panics?|deadlocks?',
  'freez(es|ing)|froze|hangs|hanging|leak(s|ing)?|regressions?|flaky|flakes|stuck|corrupt(ed)?|glitch(es|ing)?|lags|lagging',
  'time ?outs?|times out|timed out|timing out|stopped (working|responding)|stops (working|responding)',
  '(does|do|did|is|are|was|has|have|will|would|can|could) not( \\w+)?( (work|start|run|load|open|respond|connect|compile|build|show|render|find|update|save|appear|happen|match|change)(ing|s|ed)?)',
  'can not|unable to|refuses to|keeps? (getting|on|\\w+ing)|nothing happens|does nothing|not working|no longer works?|no module named|not found|not defined|permission denied|connection refused',
  'wrong|incorrect(ly)?|unexpected(ly)?|misbehav\\w+|weird(ly)?|strange(ly)?|off by one|out of memory|oom|blank since|intermittent(ly)?|randomly',
  '\\w*(error|exception) :|exit(s|ed)? (with )?(code|status)|(4\\d\\d|5\\d\\d) (errors?|from|sometimes|when|on|status)|(returns?|gets?|getting|throws|gives?|answers with) (an? )?(4|5)\\d\\d',
  '(?<!changed )since (yesterday|today|the (last )?(update|upgrade|deploy\\w*|release|merge)|this morning)|after the (last )?(update|upgrade|reboot)',
  '(is|are|gets|got|became|so|too|very) (slow|sluggish|laggy|unresponsive|blank|empty|hot)|high (cpu|memory) usage',
)

/** The name of an error, in the letters in which it was typed. */
export const errorName = /\b(E[A-Z]{4,}|[A-Z]\w*(Error|Exception)\b|SIG[A-Z]{3,4})/

/** One thing in the code that a request can be about. */
const piece =
  '(function|method|class|component|callback|promise|hook|helper|module|test|interface|type|enum|constant|variable|loop|block|switch|query|regex|branch|code|snippet|expression|handler|endpoint|route|field|form|page|button)s?'

/** Code changes its form: neither data nor an open question. */
export const reshapesCode = opens(
  `(convert|turn|extract|split|move|sort|rewrite|transform|merge) (this|that|the|these) (\\w+ )?${piece}`,
)

/** An ordinary piece of work, for one agent in one turn. */
export const works = opens(
  '(add|append|apply|bump|change|check|clean|clean up|comment|cover|create|cut|delete|document|do|drop|edit|enable|expose|extend|extract|find|finish|format|generate|give|handle|have a look|hide|implement|import|inline|insert|introduce|keep|let|limit|look at|look up|make|mark|merge|move|open|pass|polish|put|read|refactor|remove|rename|render|reorder|replace|return|review|rewrite|save|search|set|shorten|show|simplify|sort|split|squash|style|summari[sz]e|support|swap|test|tidy|tidy up|tweak|type|update|upgrade|use|wire|wrap|write)',
)

/** A result outside of the code, to which there are always several ways. */
export const outcome = sign(
  '(videos?|audio|recordings?|talks?|music|songs?|playlists?|photos?|pictures?|screens?|screenshots?|thumbnails?|pdfs?|docx|word documents?|slides|presentations?|booklet|diagrams?|drawings?|laptop|computers?|phone|servers|raspberry|nas|desktop|usb|stick|iso|e-?mails? from|newsletter|website as|backups of)',
)
export const wishes = opens('(i|we) (need|want|would like) (a|an|some|my|our|this)')

/** Requests about production data, money or credentials: choose `reflect`. */
export const delicate = sign(
  'auth|authn|authz|authentication|authorization|authorisation|oauth|sso|jwts?|passwords?|permissions?|privileges?|access control|credentials?|secrets?|tokens?|api keys?|private keys?|sessions? handling',
  'encrypt(ion|ed|s)?|decrypt(ion)?|crypto(graphy|graphic)?|hashing|signatures?|certificates?|tls|ssl|keys? rotation|encryption keys?|firewall( rules)?|security|secure(ly)?|vulnerabilit(y|ies)|vulnerable|exploits?|injection|xss|csrf|sanitiz\\w+|sanitis\\w+',
  'payments?|billing|invoic(e|es|ing)|charges?|credit cards?|money|refunds?|transactions?|transfers?|bank\\w*|payroll|taxes',
  'migrations?|production|prod|live (database|system|data)|(database|db) schema|schema (change|migration)s?|backups?|restore',
  'thread-?safe(ty)?|lock(s|ing)?|lock-free|mutex(es)?|concurren(t|cy)|race conditions?|data races?|atomic(ity)?|deadlock-free',
  'safely|safety-critical|critical|irreversibl[ey]|gdpr|personal data|medical|must (be|not|never)|compliance',
)

/** Actions that cannot be undone. */
export const destroys = sign(
  '(delet(e|es|ing)|remov(e|es|ing)|eras(e|es|ing)|wip(e|es|ing)|drop(s|ping)?|purg(e|es|ing)|clear(s|ing)?|destroy(s|ing)?|truncat(e|es|ing)) (all|every|everything|the (entire|whole|disk|database|table|users|production)|old|my (disk|drive|files|data|home)|\\w+ (table|tables|database|rows|disk|drive))',
  'wip(e|es|ing)|eras(e|es|ing)|rm -r\\w*|force[ -]push|push --force|reset --hard|format (the|my) (disk|drive)|drop (table|database)|mkfs|dd if',
)

/** Several ways are possible, and one has to be chosen. */
export const open = sign(
  '(best|better|good|right|easiest|fastest|simplest|safest|cleanest|recommended|proper) (way|ways|approach|approaches|practices?|choice|option|solution|tool|library|place)',
  'options|alternatives|pros and cons|trade-?offs?|(should|shall) (i|we)|would you (use|choose|recommend)|which .* (should|fits?|is best|is better|would you)|is it better|or should|(some|a) way',
  'a way to|an? (good |better )?approach|approaches|somewhere|ideas?|how (can|could|should|would|might) (i|we|you)|how do (i|we) best|what do you think (about|of)|would you rather',
)
export const explores = opens(
  '(convert|set up|setup|deploy|host|improve|optimi[sz]e|speed up|reduce|suggest|recommend|propose|compare|choose|pick|select|decide|brainstorm|plan|think about|come up with|find (me )?(a|an|some)|turn(?! (on|off))|automate|sync|synchroni[sz]e|back up|record|monitor|publish|install|configure|schedule|stream|share|mirror|download|burn|digiti[sz]e|scan|visuali[sz]e|send|get .* (running|going|working|up)|organi[sz]e|prepare|research|evaluate|explore|make .* (faster|smaller|better|nicer|cheaper|easier|prettier|simpler|cleaner|quicker))',
)
