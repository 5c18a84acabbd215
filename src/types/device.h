/* Which logical devices there are. */
#ifndef FERRULE_TYPES_DEVICE_H
#define FERRULE_TYPES_DEVICE_H

#include "base/text.h"
#include <ferrule/dtype.h>

fer_status fer_device_check_further(fer_device device, fer_error *error);

/* VALUE for a device that does not exist. The first one does. */
static inline fer_status fer_device_check(fer_device device, fer_error *error)
{
    return device.id == 0 ? FER_OK : fer_device_check_further(device, error);
}

/* ` @ 1`, as types and programs say where a tensor is; nothing for the first device. */
void fer_append_device(fer_text *text, int32_t id);

/* VALUE when FERRULE_HOST_DEVICES is set to what is no number of devices. The library takes that as
 * unset; whoever owns the process can refuse it. */
fer_status fer_device_check_environment(fer_error *error);

#endif
