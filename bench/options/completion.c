/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "completion.h"
#include "rows.h"

/* Each word is an option; behind "=" are its values, or @ for a file. */
static const char head[] =
    "# bash completion of railbench and railinfo, by `railbench completion`\n"
    "_railbench_words()\n"
    "{\n"
    "    case $1 in\n";

static const char tail[] =
    "    esac\n"
    "}\n"
    "\n"
    "# _railbench_complete WORD…: the word at the cursor, of these\n"
    "_railbench_complete()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} at=$((COMP_CWORD - 1)) word list\n"
    "    [ \"$cur\" = = ] && cur='' && at=$((at + 1))\n"
    "    [ \"${COMP_WORDS[at]}\" = = ] && at=$((at - 1))\n"
    "    for word; do\n"
    "        [ \"${word%%=*}\" = \"${COMP_WORDS[at]}\" ] &&\n"
    "            [ \"$word\" != \"${word%%=*}\" ] || continue\n"
    "        word=${word#*=}\n"
    "        if [ \"$word\" = @ ]; then\n"
    "            mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "        else\n"
    "            list=${cur%\"${cur##*,}\"}\n"
    "            mapfile -t COMPREPLY < <(compgen -P \"$list\" \\\n"
    "                -W \"${word//,/ }\" -- \"${cur##*,}\")\n"
    "        fi\n"
    "        return\n"
    "    done\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"${*%%=*}\" -- \"$cur\")\n"
    "}\n"
    "\n"
    "_railbench()\n"
    "{\n"
    "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
    "        _railbench_complete $(_railbench_words)\n"
    "    else\n"
    "        _railbench_complete $(_railbench_words \"${COMP_WORDS[1]}\")\n"
    "    fi\n"
    "}\n"
    "_railinfo()\n"
    "{\n"
    "    _railbench_complete --all --json --config --help --version\n"
    "}\n"
    "complete -F _railbench railbench\n"
    "complete -F _railinfo railinfo\n";

static const option_row_t *print_words(const char *subject,
                                       const option_row_t *rows, size_t count,
                                       void *arg)
{
    (void)subject, (void)arg;
    for (size_t i = 0; i < count; i++) {
        const option_names_t *names = rows[i].names;
        printf(" %s", rows[i].name);
        if (rows[i].value)
            putchar('=');
        if (rows[i].value && !strncmp(rows[i].value, "FILE", 4))
            putchar('@');
        for (unsigned n = 0; names && names->list[n]; n++)
            printf("%s%s", n ? "," : "", names->list[n]);
    }
    return NULL;
}

void completion_begin(void)
{
    fputs(head, stdout);
}

void completion_test(const char *name, const char *alias,
                     const option_table_t *table)
{
    printf("    %s%s%s) echo", name, alias ? "|" : "", alias ? alias : "");
    if (table)
        option_rows_visit(table, print_words, NULL);
    puts(" --help --version ;;");
}

void completion_end(void)
{
    fputs(tail, stdout);
}
