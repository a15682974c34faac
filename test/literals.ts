/** Comments, texts, templates and patterns in our code, each where none of the others has begun. */
export const literal =
  /(?<comment>\/\/.*|\/\*[^]*?\*\/)|(?<text>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|\$\{(?:[^{}`]|\{[^{}]*\}|`[^`]*`)*\}|[^`\\])*`)|(?<=(?:^|[(,=:[!&|?{};]|=>|\breturn)\s*)(?<pattern>\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/)/gm
