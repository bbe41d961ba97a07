"""Where our COMMA departs from the paper or from its released code, and why."""

DEVIATIONS = (
    "An action acts when it stands alone on its line; in the released code any line that mentions one acts, "
    "inside reasoning and questions too (variant=released).",
    "The Solver speaks ten times, as the paper says; the released loop lets it begin an eleventh message, of "
    "which the first action acts (variant=released).",
    "Partial scores never fall, end at 1 exactly when solved, and exist for every puzzle with more than one "
    "step, Password and ATM included; the released ones can fall, exceed 1 (Maze) or be missing.",
    "A failure counts as ten turns in ACL, as the paper's text says; the released code counted pairs of "
    "messages, so that an early failure was a short conversation. Published ACL follows the latter.",
    "Serial numbers are odd or even, mazes several, Memory's labels change from stage to stage, Password "
    "takes every listed word that can be spelt; the released code had even serials, one maze, fixed labels.",
    "Keypad symbols and skin lesions are drawn by us, and Telehealth has a name, an address and an ID number "
    "to keep private. The released Telehealth took every entry of itch and bleed for a yes.",
    "What the Solver types as PIN or amount does not reach the Expert; the paper's Expert read the keys.",
    "The Solver reads which action each answer of the panel belongs to; the released answers do not say.",
    "Tokens are those providers bill as output, reasoning included, of both seats; the paper counted message "
    "texts with one tokenizer and added reasoning tokens.",
    "Overall is the mean over puzzles; the printed overall of o4-mini and of the human row is a mean over "
    "runs, of which some puzzles had more. Both means are in the report.",
    "A reply that is empty may be given again twice and then is silence; a provider's failure voids the "
    "episode. The released code played an error message as if it had been said.",
)
