import { opens, sign } from './request.ts'

/** What is asked for: the first word of a request says most of it. */
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

/** Something is not as it should be. */
export const trouble = sign(
  'bugs?|buggy|crash(es|ed|ing)?|fail(s|ed|ing|ure|ures)?|errors?|exceptions?|broken|breaks|stack ?traces?|tracebacks?|segfaults?|panics?|deadlocks?',
  'freez(es|ing)|froze|hangs|hanging|leak(s|ing)?|regressions?|flaky|flakes|stuck|corrupt(ed)?|glitch(es|ing)?|lags|lagging',
  'time ?outs?|times out|timed out|timing out|stopped (working|responding)|stops (working|responding)',
  '(does|do|did|is|are|was|has|have|will|would|can|could) not( \\w+)?( (work|start|run|load|open|respond|connect|compile|build|show|render|find|update|save|appear|happen|match|change)(ing|s|ed)?)',
  'can not|unable to|refuses to|keeps? (getting|on|\\w+ing)|nothing happens|does nothing|not working|no longer works?|no module named|not found|not defined|permission denied|connection refused',
  'wrong|incorrect(ly)?|unexpected(ly)?|misbehav\\w+|weird(ly)?|strange(ly)?|off by one|out of memory|oom|blank since|intermittent(ly)?|randomly',
  '\\w*(error|exception) :|exit(s|ed)? (with )?(code|status)|(4\\d\\d|5\\d\\d) (errors?|from|sometimes|when|on|status)|(returns?|gets?|getting|throws|gives?|answers with) (an? )?(4|5)\\d\\d',
  'since (yesterday|today|the (last )?(update|upgrade|deploy\\w*|release|merge)|this morning)|after the (last )?(update|upgrade|reboot)',
  '(is|are|gets|got|became|so|too|very) (slow|sluggish|laggy|unresponsive|blank|empty|hot)|high (cpu|memory) usage',
)

/** An error code in capitals is one as it was typed. */
export const errorName = /\b(E[A-Z]{4,}|[A-Z]\w*(Error|Exception)\b|SIG[A-Z]{3,4})/

/** What must not go wrong. */
export const delicate = sign(
  'auth|authn|authz|authentication|authorization|authorisation|oauth|sso|jwts?|passwords?|permissions?|privileges?|access control|credentials?|secrets?|tokens?|api keys?|private keys?|sessions? handling',
  'encrypt(ion|ed|s)?|decrypt(ion)?|crypto(graphy|graphic)?|hashing|signatures?|certificates?|tls|ssl|keys? rotation|encryption keys?|firewall( rules)?|security|secure(ly)?|vulnerabilit(y|ies)|vulnerable|exploits?|injection|xss|csrf|sanitiz\\w+|sanitis\\w+',
  'payments?|billing|invoic(e|es|ing)|charges?|credit cards?|money|refunds?|transactions?|transfers?|bank\\w*|payroll|taxes',
  'migrations?|production|prod|live (database|system|data)|(database|db) schema|schema (change|migration)s?|backups?|restore',
  'thread-?safe(ty)?|lock(s|ing)?|lock-free|mutex(es)?|concurren(t|cy)|race conditions?|data races?|atomic(ity)?|deadlock-free',
  'safely|safety-critical|critical|irreversibl[ey]|gdpr|personal data|medical|must (be|not|never)|compliance',
)

/** What cannot be taken back. */
export const destroys = sign(
  '(delet(e|es|ing)|remov(e|es|ing)|eras(e|es|ing)|wip(e|es|ing)|drop(s|ping)?|purg(e|es|ing)|clear(s|ing)?|destroy(s|ing)?|truncat(e|es|ing)) (all|every|everything|the (entire|whole|disk|database|table|users|production)|old|my (disk|drive|files|data|home)|\\w+ (table|tables|database|rows|disk|drive))',
  'wip(e|es|ing)|eras(e|es|ing)|rm -r\\w*|force[ -]push|push --force|reset --hard|format (the|my) (disk|drive)|drop (table|database)|mkfs|dd if',
)

/** More than one way leads there, and somebody has to choose. */
export const open = sign(
  '(best|better|good|right|easiest|fastest|simplest|safest|cleanest|recommended|proper) (way|ways|approach|approaches|practices?|choice|option|solution|tool|library|place)',
  'options|alternatives|pros and cons|trade-?offs?|(should|shall) (i|we)|would you (use|choose|recommend)|which .* (should|fits?|is best|is better|would you)|is it better|or should|(some|a) way',
  'a way to|approach(es)?|somewhere|ideas?|(how) (can|could|do|should|would|might) (i|we|you)( best)?',
)
export const explores = opens(
  '(convert|set up|setup|deploy|host|improve|optimi[sz]e|speed up|reduce|suggest|recommend|propose|compare|choose|pick|select|decide|brainstorm|plan|think about|come up with|find (me )?(a|an|some)|turn (?!on|off)|automate|sync|synchroni[sz]e|back up|record|monitor|publish|install|configure|organi[sz]e|prepare|research|evaluate|explore|make .* (faster|smaller|better|nicer|cheaper|easier|prettier|simpler|cleaner|quicker))',
)
