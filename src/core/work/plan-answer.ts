/** The words for an agent that plans without a plan mode of its own. Its answer is the plan. */
export const planWords =
  'You are in plan mode: read and plan, and change nothing. Edit, create, move and delete no file, and run nothing that changes anything. ' +
  'Your answer is the plan itself, so write no file with it. Give it these sections: Summary, Implementation Changes, Public APIs / Interfaces, ' +
  'Tests, Assumptions & Risks. If the plan depends on a decision that you cannot read from the project, ask that question instead, and end ' +
  'your answer with it. The person approves the plan before anything is built.'

/** Whether an answer is a plan; an answer that only asks a question has no sections. */
export function isPlan(answer: string): boolean {
  const named = ['Summary', 'Implementation Changes', 'Public APIs', 'Tests', 'Assumptions'].filter((section) =>
    new RegExp(`^[\\s#*\\d.]*${section}\\b`, 'im').test(answer),
  )
  return named.length >= 2
}

/** Whether the answer of an agent that got the words for planning is a plan, in whatever form, and not a question to the person. */
export const answersWithPlan = (answer: string): boolean => isPlan(answer) || !/\?[\s*_)"”]*$/.test(answer)
