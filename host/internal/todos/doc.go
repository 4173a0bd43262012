// Package todos reads an agent's task list out of its conversation: a summary then says why each open task exists.
//
// It is for commands that load recorded conversations, whose agents did not call Session.SetTodos. Start at [Tracker]:
// give it every entry in order and ask for the list at any time. [Check] validates a list that an agent passes itself;
// [Active] selects the unfinished tasks.
//
// The tools known, by their exact names:
//
//	TodoWrite, todo_write, todowrite   {todos: [{id, content, status, subtasks}]}   the whole list
//	write_todos                        {todos: [{description, status}]}             the whole list
//	update_plan                        {plan: [{step, status}]}                     the whole list
//	TaskCreate                         {subject}; the id is in the answer           adds a task
//	TaskUpdate                         {taskId, status, subject}                    changes or removes a task
package todos
