/** Greetings, nods, thanks, and choices among options that were just offered, in the languages in which people write to agents. */
const nods = new Set(
  [
    'yes yep yeah yup no nope ok okay k sure please thanks thank you thx cheers hello hi hey there go on ahead continue carry do it that this try again retry once more stop wait next proceed',
    'the a first second third fourth last other one option choice sounds good great perfect nice fine cool right exactly correct undo revert and then now both all keep going same never mind nevermind morning afternoon evening approach way agreed approved lgtm done i agree with you',
    'ja nein doch bitte danke weiter mach genau gut passt klar hallo moin die das der erste zweite letzte variante nochmal stopp super',
    'oui non merci continue vas-y bonjour salut parfait la le première premier deuxième option encore stop bien',
    'sí si no gracias por favor continúa sigue adelante hola perfecto la el primera segunda opción otra vez bien vale de acuerdo',
    'sim não nao obrigado obrigada continua continue olá perfeito a primeira segunda opção bem',
    'sì grazie prego continua avanti ciao perfetto prima seconda opzione bene va',
    'да нет спасибо продолжай давай привет хорошо отлично дальше стоп',
    '好 好的 是 是的 对 不 不用 谢谢 继续 你好 可以 行 没问题',
    'はい いいえ ありがとう お願いします 続けて こんにちは いいね',
    '네 아니요 감사합니다 계속 안녕하세요 좋아요',
  ].flatMap((words) => words.split(' ')),
)

/** A reply longer than this says more than yes or no. */
const longestNod = 6

export const isNod = (words: readonly string[]): boolean =>
  words.length > 0 && words.length <= longestNod && words.every((word) => nods.has(word))

/** Questions about the cause of a failure, one pattern per language, matched against the request in lower case. */
const troubleQuestions: readonly RegExp[] = [
  /^(?:warum|wieso|weshalb)(?=\s).*(?:fehl|abst[uü]rz|st[uü]rz|h[aä]ng|bricht|kaputt|abbruch|(?:funktioniert|geht|l[aä]uft|startet|kompiliert|baut|l[aä]dt)\b.*\bnicht)/,
  /^pourquoi(?=\s).*(?:[ée]choue|plante|erreur|bloque|ne\b.*\b(?:marche|fonctionne|compile|d[ée]marre|charge|r[ée]pond)\w* (?:pas|plus))/,
  /^¿?por qu[ée](?=\s).*(?:falla|fallan|error|se (?:cuelga|bloquea|cae|rompe)|no (?:funciona|compila|arranca|carga|responde))/,
  /^por ?qu[eê](?=\s).*(?:falha|falhando|erro|trava|quebra|n[aã]o (?:funciona|compila|inicia|carrega|responde))/,
  /^perch[éeè](?=\s).*(?:fallisce|errore|si (?:blocca|rompe)|non (?:funziona|compila|parte|risponde|si avvia))/,
  /^waarom(?=\s).*(?:faalt|mislukt|crasht|fout|werkt\b.*\bniet|start\b.*\bniet)/,
  /^почему(?=\s).*(?:пада[ею]т|ошибк|завис|слом|не (?:работа|запуска|компилир|собира|открыва|загружа))/,
  /^为(?:什么|何|啥).*(?:失败|报错|出错|崩溃|挂掉|卡死|超时|不工作|不能用|无法|跑不)/,
  /^(?:なぜ|どうして|なんで).*(?:失敗|エラー|落ち|クラッシュ|動かな|動作しな|固ま|止ま)/,
  /왜.*(?:실패|오류|에러|충돌|멈추|안 ?(?:돼|되|됩))/,
]

/** The pattern is not searched for in a pasted log: the question comes before the log. */
const longestQuestion = 300

/** Whether a request in another language asks why something fails. */
export function reportsTrouble(request: string): boolean {
  const text = request.trim().slice(0, longestQuestion).toLowerCase().replaceAll(/\s+/g, ' ')
  return troubleQuestions.some((question) => question.test(text))
}
