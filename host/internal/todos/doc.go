// Package todos reads an agent's task list out of its conversation, for strategies that ask a model for a summary: the
// summary then says why each open task exists (REQ-HD-011).
//
// It is for the host and for agent authors who want to see what the host sees. Start at [Tracker]: give it every entry in
// order and ask for the list at any time. An agent that keeps its list elsewhere hands it over itself; [Check] says whether
// such a list is well-formed. [Active] leaves the tasks that are not done.
//
// These tools are known, by their exact names:
//
//	TodoWrite, todo_write, todowrite   {todos: [{id, content, status, subtasks}]}   the whole list
//	write_todos                        {todos: [{description, status}]}             the whole list
//	update_plan                        {plan: [{step, status}]}                     the whole list
//	TaskCreate                         {subject}; the id is in the answer           one more task
//	TaskUpdate                         {taskId, status, subject}                    one task changes, or goes
package todos
