import { sign } from './request-text.ts'

/** Plain words for something that does not work. Words that also name a feature, such as "error" and "slow", are excluded. */
export const strongTrouble = sign(
  'crash(es|ed|ing)?|fail(s|ed|ing)|(is|are|was|were|got|gets|seems) (broken|stuck|corrupted)|breaks|stack ?traces?|tracebacks?|segfault(s|ed|ing)?|deadlocks|freez(es|ing)|froze|hangs|hanging|leaks|leaking|flaky|race condition',
  'times out|timed out|timing out|stopped working|stops working|stopped responding|no longer works?|nothing happens|not working|permission denied|connection refused|out of memory',
  '(does|do|did|is|are|was|has|have|will|can|could) not( \\w+)? (work|start|run|load|open|respond|connect|compile|build|show up|render|boot)(ing|s|ed)?',
  '(throws|throwing|getting|gets|get|got|see|seeing|returns?|gives?) (an? |the |these |this |lots of )?(\\w+ )?(errors?|exceptions?|4\\d\\d|5\\d\\d)',
  'exit(s|ed) with (code|status)',
)

/** The name of an error, in its original upper and lower case. */
export const errorName =
  /\b(E(?:NOENT|ACCES|PERM|EXIST|CONNREFUSED|CONNRESET|ADDRINUSE|PIPE|MFILE|TIMEDOUT|ISDIR|NOTDIR|INVAL)|[A-Z]\w*(?:Error|Exception):|SIG(?:SEGV|ABRT|KILL|BUS|FPE)|Traceback \(most recent call last\))/

/** Actions whose objects are gone for good afterwards; deleting a comment or an unused import does not count. */
export const destroyedThings = sign(
  '(delet(e|es|ing)|remov(e|es|ing)|eras(e|es|ing)|wip(e|es|ing)|purg(e|es|ing)|destroy(s|ing)?|truncat(e|es|ing)) (all |every |everything |the |my |our |these |old |inactive |entire |whole |of )*(users?|customers?|accounts?|rows|records|data|database|databases|tables?|backups?|(hard )?(disk|drive)|partition|home( folder| directory)?|production|branches|files|buckets?|volumes?|history)',
  'drop (the |our |this )?(\\w+ )?(table|tables|database|schema|column)|rm -r\\w*|force[ -]push|push --force|reset --hard|format (the|my|this) (disk|drive)|mkfs|dd if',
)

/** Parts of a program in which a mistake is dangerous. */
export const delicateParts = sign(
  'auth|authentication|authorization|authorisation|oauth|sso|jwts?|passwords?|access control|credentials?|secrets?|api keys?|private keys?|signing keys?|encryption( keys?| layer)?|decryption|cryptography|payments?|billing|refunds?|money transfers?|payroll|session (tokens?|handling)|permission (checks?|system|model)',
)

/** Something that is built in many parts; it ends the object of a request: "a dashboard", and not "a dashboard test". */
export const products = sign(
  '((web|mobile|desktop|todo|chat|full-stack|fullstack|native|android|ios|react|booking|weather|notes?) app|app|application|website|web ?site|platform|dashboard|portal|admin panel|marketplace|(online|web|e-?commerce) (shop|store)|video game|\\w+ game|game|text editor|code editor|compiler|crm|cms|forum|social network|\\w+ clone|backend|frontend|search engine)(?= $)',
)

/** Phrases for a whole program, which no single change covers. */
export const widePlaces = sign(
  '(the |our |this |my )?(whole |entire )?(codebase|code base|monolith)|(whole|entire) (app|application|project|backend|frontend|site|website|server)',
)

/** Words for data that a program reads. */
export const dataNouns = sign(
  'csv|tsv|json|jsonl|xml|xlsx|excel|spreadsheets?|parquet|log files?|logs|access log|rows|columns?|records|emails|e-?mail addresses|urls|phone numbers|timestamps|(by|per) (\\w+ )?(type|kind|user|month|day|week|year|country|category|process|extension|file type)',
)

/** Words that say that a request is about code, though it names data or a document. */
export const codeNouns = sign(
  '(function|method|class|component|callback|promise|hook|helper|module|tests?|interface|enum|constant|variable|loop|handler|endpoint|route|button|form|parser|code|library|package|command|flag)s?',
)

/** Formats of documents and media: there are always several ways to convert between them. */
export const documentFormats = sign(
  '(docx?|odt|pdfs?|epub|pptx?|word documents?|word files?|slides|presentations?|mp4|mp3|mkv|wav|flac|heic|videos?|audio)( files?)? (to|into) .*',
)

/** Things that can be set up in more than one way. */
export const installations = sign(
  '(setup .*)?(rest api|api|server|mail server|web server|ci|ci pipeline|ci/cd|pipeline|cluster|vpn|monitoring|backups?|database|development environment|dev environment|home server|proxy|reverse proxy)(?= $)',
)

/** Several ways are possible, and the person asks for the choice. */
export const openQuestions = sign(
  '(the |a )?(best|better|easiest|fastest|simplest|safest|cleanest|recommended) (way|ways|approach|approaches|practices?|choice|option|solution|tool|library|strategy|framework)',
  'pros and cons|trade-?offs? (between|of)|(should|shall) (i|we) (use|choose|pick|go with|take|switch)|which .* (should (i|we)|would you|do you recommend|is better|is best|fits (us|me|best))|would you (recommend|choose|rather)|is it better to|what are (my|our|the) (options|alternatives)|what (alternatives|options) (are there|do (i|we) have)|different ways (to|of)',
)
